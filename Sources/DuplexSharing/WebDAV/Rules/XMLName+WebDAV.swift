// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension XMLName {
    /// The namespace of WebDAV (RFC 4918 section 21.1).
    static let davNamespace = "DAV:"

    /// A name of WebDAV's.
    static func dav(_ local: String) -> XMLName { XMLName(local, in: davNamespace) }
}

extension XMLElement {
    /// An element of WebDAV's.
    static func dav(_ local: String, _ children: [XMLElement] = []) -> XMLElement {
        XMLElement(.dav(local), prefix: "D", children: children.map(Node.element))
    }

    /// An element of WebDAV's with a text in it.
    static func dav(_ local: String, text: String) -> XMLElement {
        XMLElement(.dav(local), prefix: "D", children: [.text(text)])
    }
}
