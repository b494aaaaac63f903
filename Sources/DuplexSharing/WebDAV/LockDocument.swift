// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The file that locks are kept in over a restart.
enum LockDocument {
    private static let namespace = "urn:duplex:locks"
    /// As many locks as there may be, each with an owner of some length.
    private static let limits = XMLLimits(bytes: 64 << 20, depth: 40, elements: 1 << 20)
    /// The most bytes of it.
    static var bound: Int { limits.bytes }

    private static func name(_ local: String) -> XMLName { XMLName(local, in: namespace) }

    static func bytes(of locks: [WebDAVLock]) -> [UInt8] {
        var writer = XMLWriter()
        writer.begin(name("locks"), prefix: "l")
        for lock in locks {
            var values = [
                ("token", lock.token), ("path", lock.root.text), ("scope", lock.scope.rawValue),
                ("expires", String(lock.expiry.seconds)),
            ]
            if lock.isDeep { values.append(("deep", "yes")) }
            if let user = lock.user { values.append(("user", user)) }
            let attributes = values.map { XMLElement.Attribute(XMLName($0.0, in: ""), $0.1) }
            let children = lock.owner.map { [XMLElement.Node.element($0)] } ?? []
            writer.add(XMLElement(name("lock"), prefix: "l", attributes: attributes, children: children))
        }
        writer.end()
        return Array((MultiStatus.declaration + writer.text).utf8)
    }

    /// The locks in it; what can't be read is left out.
    static func locks(in bytes: [UInt8]) -> [WebDAVLock] {
        guard let root = try? XMLReader.element(of: bytes, limits), root.name == name("locks") else { return [] }
        return root.elements.compactMap { element in
            func value(_ name: String) -> String? { element.attribute(XMLName(name, in: "")) }
            guard element.name == name("lock"), let token = value("token"), let path = value("path"),
                let scope = value("scope").flatMap(WebDAVLock.Scope.init(rawValue:)),
                let seconds = value("expires").flatMap({ Int64($0) })
            else { return nil }
            return WebDAVLock(
                token: token,
                root: ResourcePath(path),
                isDeep: value("deep") == "yes",
                scope: scope,
                owner: element.elements.first,
                user: value("user"),
                expiry: UnixTime(seconds: seconds)
            )
        }
    }
}
