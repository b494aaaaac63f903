// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// What is in a folder, as a page or as JSON.
package struct FileListing {
    /// A file or a folder.
    package struct Entry {
        let name: String
        let isFolder: Bool
        let size: UInt64
        let modified: UnixTime

        package init(name: String, isFolder: Bool, size: UInt64, modified: UnixTime) {
            self.name = name
            self.isFolder = isFolder
            self.size = size
            self.modified = modified
        }
    }

    enum Order: String, CaseIterable {
        case name, size, modified
    }

    /// How many entries are read; a folder with more is cut, and says so.
    static let bound = 10_000

    private let entries: [Entry]
    let isCut: Bool
    /// How many there are whose names can't be in an address.
    let unlisted: Int
    let isTop: Bool

    /// Reads a folder; blocks for as long as the disk takes.
    ///
    /// - Parameters:
    ///   - file: the folder.
    ///   - path: where it is.
    ///   - folder: what it is in; only what can be opened there is listed.
    ///   - showsHidden: whether names that begin with a dot are listed.
    /// - Throws: `SocketError` with `unreadableFile`.
    init(
        of file: OpenedFile,
        at path: FilePath,
        in folder: ConfinedFolder,
        showsHidden: Bool
    ) throws(SocketError) {
        let (names, isCut) = try OpenedFolder(file)?.allNames(atMost: Self.bound) ?? ([], false)
        var entries: [Entry] = []
        var unlisted = 0
        for name in names where (showsHidden || !name.isHidden) && !OwnName.isOwn(name.escaped) {
            guard let name = name.text else {
                unlisted += 1
                continue
            }
            guard case .found(let found) = try folder.find(path.path(of: name)), found.kind != .other else { continue }
            let modified = UnixTime(seconds: found.modified.seconds)
            entries.append(Entry(name: name, isFolder: found.kind == .folder, size: found.size, modified: modified))
        }
        self.init(entries, isCut: isCut, unlisted: unlisted, isTop: path.text.isEmpty)
    }

    package init(_ entries: [Entry], isCut: Bool, unlisted: Int = 0, isTop: Bool) {
        self.entries = entries
        self.isCut = isCut
        self.unlisted = unlisted
        self.isTop = isTop
    }

    /// The response, in the form that the client wants.
    package func response(to request: Request) -> Response {
        let items = QueryItems(readable: request.query)
        let order = items.first { $0.name == "sort" }.flatMap { Order(rawValue: $0.value) } ?? .name
        let isDescending = items.contains { $0.name == "order" && $0.value == "desc" }
        let entries = sorted(by: order, isDescending: isDescending)
        var response: Response
        if request.accepted.preferred(of: [.html, .json]) == .json {
            response = Response(type: .json, body: .text(json(entries)))
        } else {
            let nonce = RandomText.hexadecimal()
            let title = PercentDecoding.decode(request.path) ?? request.path
            response = .html(page(entries, title, order, isDescending: isDescending, nonce))
            response.fields[.contentSecurityPolicy] = "default-src 'none'; style-src 'nonce-\(nonce)'"
        }
        response.fields[.cacheControl] = "no-cache"
        response.fields[.xContentTypeOptions] = "nosniff"
        response.vary(by: .accept)
        return response
    }

    /// Folders first, then as it is asked for; what is the same there is in the order of the names.
    private func sorted(by order: Order, isDescending: Bool) -> [Entry] {
        entries.sorted { one, other in
            if one.isFolder != other.isFolder { return one.isFolder }
            let (first, second) = isDescending ? (other, one) : (one, other)
            switch order {
            case .size where first.size != second.size && !one.isFolder: return first.size < second.size
            case .modified where first.modified != second.modified: return first.modified < second.modified
            case .name, .size, .modified: break
            }
            let (left, right) = (first.name.lowercased(), second.name.lowercased())
            return left == right ? first.name < second.name : left < right
        }
    }

    // MARK: JSON

    private func json(_ entries: [Entry]) -> String {
        let values = entries.map { entry in
            var members = JSONText.Members()
            members.add("name", entry.name)
            members.add("kind", entry.isFolder ? "folder" : "file")
            if !entry.isFolder { members.add("size", Int(clamping: entry.size)) }
            members.add("modified", .integer(entry.modified.seconds))
            return JSONText.object(members.all)
        }
        var members = JSONText.Members()
        members.add("entries", .array(values))
        members.add("isCut", isCut)
        if unlisted > 0 { members.add("unlisted", unlisted) }
        return JSONText.object(members.all).text + "\n"
    }
}
