// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// An element of a document with all that is in it.
struct XMLElement: Sendable, Hashable {
    /// What is in an element, in order.
    enum Node: Sendable, Hashable {
        case element(XMLElement)
        /// A text, with its references resolved.
        case text(String)
    }

    /// A value that an element is given in its tag.
    struct Attribute: Sendable, Hashable {
        var name: XMLName
        var value: String
        /// What the document had for the namespace; empty for nothing.
        var prefix: String

        init(_ name: XMLName, _ value: String, prefix: String = "") {
            self.name = name
            self.value = value
            self.prefix = prefix
        }
    }

    var name: XMLName
    /// What the document had for the namespace; empty for nothing.
    var prefix: String
    var attributes: [Attribute]
    var children: [Node]

    init(
        _ name: XMLName,
        prefix: String = "",
        attributes: [Attribute] = [],
        children: [Node] = []
    ) {
        self.name = name
        self.prefix = prefix
        self.attributes = attributes
        self.children = children
    }

    /// The elements in it, without the texts between them.
    var elements: [XMLElement] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The first element in it of that name.
    func first(_ name: XMLName) -> XMLElement? {
        elements.first { $0.name == name }
    }

    /// The texts in it, joined, without those of elements in it.
    var text: String {
        children.reduce(into: "") { text, child in if case .text(let part) = child { text += part } }
    }

    /// The element as a document of its own has it, without a declaration.
    var written: String {
        var writer = XMLWriter()
        writer.add(self)
        return writer.text
    }

    func attribute(_ name: XMLName) -> String? {
        attributes.first { $0.name == name }?.value
    }
}
