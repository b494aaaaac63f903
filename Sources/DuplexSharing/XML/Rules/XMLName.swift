// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
}
