// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire

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
