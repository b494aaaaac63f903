// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// An element of a document with all that is in it.
package struct XMLElement: Sendable, Hashable {
    /// What is in an element, in order.
    package enum Node: Sendable, Hashable {
        case element(XMLElement)
        /// A text, with its references resolved.
        case text(String)
    }

    /// A value that an element is given in its tag.
    package struct Attribute: Sendable, Hashable {
        package var name: XMLName
        package var value: String
        /// What the document had for the namespace; empty for nothing.
        package var prefix: String

        package init(_ name: XMLName, _ value: String, prefix: String = "") {
            self.name = name
            self.value = value
            self.prefix = prefix
        }
    }

    package var name: XMLName
    /// What the document had for the namespace; empty for nothing.
    package var prefix: String
    package var attributes: [Attribute]
    package var children: [Node]

    package init(
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
    package var elements: [XMLElement] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The first element in it of that name.
    package func first(_ name: XMLName) -> XMLElement? {
        elements.first { $0.name == name }
    }

    /// The texts in it, joined, without those of elements in it.
    package var text: String {
        children.reduce(into: "") { text, child in if case .text(let part) = child { text += part } }
    }

    /// The element as a document of its own has it, without a declaration.
    package var written: String {
        var writer = XMLWriter()
        writer.add(self)
        return writer.text
    }

    package func attribute(_ name: XMLName) -> String? {
        attributes.first { $0.name == name }?.value
    }
}
