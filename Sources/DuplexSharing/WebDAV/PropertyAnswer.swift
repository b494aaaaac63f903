// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// What a PROPFIND says of one file or folder.
struct PropertyAnswer: Sendable {
    private let query: PropertyQuery
    /// Those that are asked for by name, and what the server knows of them.
    private let named: [(name: XMLName, live: LiveProperty?)]
    /// What the answer is written with.
    let document: MultiStatus

    init(_ query: PropertyQuery) {
        self.query = query
        let names: [XMLName] =
            switch query {
            case .named(let names), .all(let names): names
            case .names: []
            }
        named = names.map { ($0, LiveProperty($0)) }
        document = MultiStatus(naming: names)
    }

    private var isNamed: Bool { if case .named = query { true } else { false } }

    /// Whether what clients have noted is asked for.
    var needsDead: Bool { !isNamed || named.contains { $0.live.map { !$0.isProtected } ?? true } }

    /// Whether it is asked how much room there is.
    var needsSpace: Bool { named.contains { $0.live.map { !$0.isCommon } ?? false } }

    /// Whether it is asked for locks.
    var needsLocks: Bool { !isNamed || named.contains { $0.live == .locks } }

    /// The piece of the answer.
    ///
    /// - Parameters:
    ///   - href: the URL of the file or folder.
    ///   - facts: what is known of it.
    ///   - noted: what clients have noted; nil if that can't be read.
    /// - Returns: the piece.
    func piece(_ href: String, _ facts: LiveProperty.Facts, _ noted: [XMLElement]?) -> String {
        let dead = noted ?? []
        switch query {
        case .named: return document.response(href, sorted(facts, noted, others: []))
        case .names:
            let live = LiveProperty.allCases.filter { $0.element(facts) != nil }.map(\.name)
            let names = live + dead.map(\.name).filter { !live.contains($0) }
            return document.response(href, [(.ok, names.map { .value(XMLElement($0)) })])
        case .all:
            let common = LiveProperty.allCases.filter(\.isCommon)
            let names = common.map(\.name)
            let live = common.compactMap { property in
                dead.first { $0.name == property.name } ?? property.element(facts)
            }
            let all = live + dead.filter { !names.contains($0.name) }
            return document.response(href, sorted(facts, noted, others: all))
        }
    }

    /// Those that are there, the others first, and those that aren't, or can't be read.
    private func sorted(
        _ facts: LiveProperty.Facts,
        _ dead: [XMLElement]?,
        others: [XMLElement]
    ) -> [(status: HTTPResponse.Status, properties: [MultiStatus.Property])] {
        let noted = Dictionary((dead ?? []).map { ($0.name, $0) }) { first, _ in first }
        let told = Set(others.map(\.name))
        var found = others.map(MultiStatus.Property.value)
        var missing: [MultiStatus.Property] = []
        var unread: [MultiStatus.Property] = []
        for (index, (name, live)) in named.enumerated() where told.isEmpty || !told.contains(name) {
            // A folder without a length has none, though all that is common was asked for.
            if !isNamed, live?.isCommon == true { continue }
            if let element = noted.isEmpty ? nil : noted[name] {
                found.append(.value(element))
            } else if let element = live?.element(facts) {
                found.append(.value(element))
            } else if dead == nil && live == nil {
                unread.append(.name(index))
            } else {
                missing.append(.name(index))
            }
        }
        return [(.ok, found), (.notFound, missing), (.internalServerError, unread)]
    }
}

/// A property whose value the server knows (RFC 4918 section 15, RFC 4331).
enum LiveProperty: String, CaseIterable {
    case created = "creationdate"
    case displayName = "displayname"
    case length = "getcontentlength"
    case contentType = "getcontenttype"
    case tag = "getetag"
    case modified = "getlastmodified"
    case locks = "lockdiscovery"
    case type = "resourcetype"
    case supportedLocks = "supportedlock"
    case room = "quota-available-bytes"
    case used = "quota-used-bytes"

    /// What is known of a file or folder.
    struct Facts {
        var entry: FolderEntry
        var locks: [XMLElement] = []
        var space: FolderSpace?
    }

    init?(_ name: XMLName) {
        guard name.namespace == XMLName.davNamespace, let property = Self(rawValue: name.local) else { return nil }
        self = property
    }

    var name: XMLName { .dav(rawValue) }

    /// Whether it is in the response to clients that ask for all (RFC 4331 section 2: those of quotas aren't among
    /// them).
    var isCommon: Bool { self != .room && self != .used }

    /// Whether no client may set it.
    var isProtected: Bool { self != .displayName }

    /// Nil where it has none.
    func element(_ facts: Facts) -> XMLElement? {
        let entry = facts.entry
        let isFolder = entry.kind == .folder
        switch self {
        // File systems don't say when something was made, in any way that all of them know.
        case .created: return text(entry.modified.internetText)
        case .displayName: return text(entry.name)
        case .length: return isFolder ? nil : text(String(entry.size))
        case .contentType: return isFolder ? nil : text(MediaType.ofFile(named: entry.name).rawValue)
        case .tag: return isFolder ? nil : entry.tag.map { text($0.description) }
        case .modified: return text(HTTPDate.string(entry.modified))
        case .locks: return .dav(rawValue, facts.locks)
        case .type: return .dav(rawValue, isFolder ? [.dav("collection")] : [])
        case .supportedLocks: return WebDAVLock.supported
        case .room: return isFolder ? facts.space.map { text(String($0.free)) } : nil
        case .used: return isFolder ? facts.space.map { text(String($0.used)) } : nil
        }
    }

    private func text(_ text: String) -> XMLElement { .dav(rawValue, text: text) }
}

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
