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

    /// An element of WebDAV's.
    static func dav(_ local: String, _ children: [XMLElement] = []) -> XMLElement {
        XMLElement(.dav(local), prefix: "D", children: children.map(Node.element))
    }

    /// An element of WebDAV's with a text in it.
    static func dav(_ local: String, text: String) -> XMLElement {
        XMLElement(.dav(local), prefix: "D", children: [.text(text)])
    }
}

/// The name of an element or an attribute: its namespace, and its name there (Namespaces in XML 1.0, section 2).
struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The namespace of `xml:lang`, whose prefix needs no declaration.
    static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// The namespace; empty for none.
    let namespace: String
    /// The name without a prefix.
    let local: String

    init(_ local: String, in namespace: String) {
        self.namespace = namespace
        self.local = local
    }

    /// The language of a text: `xml:lang`.
    static let language = XMLName("lang", in: xmlNamespace)

    /// The name as James Clark writes it, such as `{DAV:}prop`.
    var description: String { namespace.isEmpty ? local : "{\(namespace)}\(local)" }

    // Byte by byte: names that look the same may be others.
    static func == (first: XMLName, second: XMLName) -> Bool {
        first.local.utf8.elementsEqual(second.local.utf8)
            && first.namespace.utf8.elementsEqual(second.namespace.utf8)
    }

    func hash(into hasher: inout Hasher) {
        // The same bytes are the same text.
        hasher.combine(local)
        hasher.combine(namespace)
    }

    /// The namespace of WebDAV (RFC 4918 section 21.1).
    static let davNamespace = "DAV:"

    /// A name of WebDAV's.
    static func dav(_ local: String) -> XMLName { XMLName(local, in: davNamespace) }
}
