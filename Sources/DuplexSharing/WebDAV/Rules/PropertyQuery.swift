// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a PROPFIND asks for (RFC 4918 section 9.1).
enum PropertyQuery: Sendable, Hashable {
    /// All that is cheap, and these.
    case all(including: [XMLName])
    /// Which there are.
    case names
    /// These.
    case named([XMLName])

    /// The most properties that a request may name: each is answered for each resource.
    static let bound = 256
    /// The most bytes of their names, with each namespace counted once.
    static let nameBound = 16_384

    /// Reads the body of a request.
    ///
    /// - Parameter root: its element; nil for no body, which asks for all.
    /// - Throws: ``WebDAVFault`` for one that asks for nothing, for two things, or for too much.
    init(_ root: XMLElement?) throws(WebDAVFault) {
        guard let root else {
            self = .all(including: [])
            return
        }
        guard root.name == .dav("propfind") else { throw WebDAVFault("The body is no propfind of DAV:.") }
        // Elements that aren't known are passed over (RFC 4918 section 17).
        let questions = root.elements.filter { [.dav("prop"), .dav("allprop"), .dav("propname")].contains($0.name) }
        guard questions.count == 1 else { throw WebDAVFault("A propfind has one of prop, allprop and propname.") }
        switch questions[0].name.local {
        case "prop": self = .named(try Self.names(questions[0]))
        case "propname": self = .names
        default: self = .all(including: try root.first(.dav("include")).map(Self.names) ?? [])
        }
    }

    private static func names(_ element: XMLElement) throws(WebDAVFault) -> [XMLName] {
        var seen: Set<XMLName> = []
        let names = element.elements.map(\.name).filter { seen.insert($0).inserted }
        guard names.count <= bound else { throw WebDAVFault("A request names at most \(bound) properties.") }
        // The names that a resource doesn't have are repeated for each resource, and there may be thousands.
        let parts = names.map(\.local) + Set(names.map(\.namespace))
        guard parts.reduce(0, { $0 + $1.utf8.count }) <= nameBound else {
            throw WebDAVFault("The names of properties have at most \(nameBound) bytes in a request.")
        }
        return names
    }
}
