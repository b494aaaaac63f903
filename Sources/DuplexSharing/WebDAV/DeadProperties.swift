// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire

/// Properties that a client has given to a file or folder, which mean nothing to the server, as they are kept.
enum DeadProperties {
    private static let root = XMLName("properties", in: "urn:duplex:properties")
    private static let limits = XMLLimits(bytes: 16 << 20, depth: 40, elements: 1 << 20)

    /// What is kept; nil for no properties.
    static func bytes(of properties: [XMLElement]) -> [UInt8]? {
        if properties.isEmpty { return nil }
        var writer = XMLWriter()
        writer.add(XMLElement(root, prefix: "p", children: properties.map(XMLElement.Node.element)))
        return Array(writer.text.utf8)
    }

    /// The properties; none of what can't be read, which somebody else has written.
    static func properties(in bytes: [UInt8]?) -> [XMLElement] {
        guard let bytes, let element = try? XMLReader.element(of: bytes, limits), element.name == root else {
            return []
        }
        return element.elements
    }
}
