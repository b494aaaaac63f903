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
    let isTruncated: Bool
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
        let (names, isTruncated) = try OpenedFolder(file)?.allNames(atMost: Self.bound) ?? ([], false)
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
        self.init(entries, isTruncated: isTruncated, unlisted: unlisted, isTop: path.text.isEmpty)
    }

    package init(_ entries: [Entry], isTruncated: Bool, unlisted: Int = 0, isTop: Bool) {
        self.entries = entries
        self.isTruncated = isTruncated
        self.unlisted = unlisted
        self.isTop = isTop
    }

    /// The response, in the form that the client wants.
    package func response(to request: Request) -> Response {
        let items = QueryItems(readable: request.head.query)
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
            response.headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'nonce-\(nonce)'"
        }
        response.headers[.cacheControl] = "no-cache"
        response.headers[.xContentTypeOptions] = "nosniff"
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
        members.add("isCut", isTruncated)
        if unlisted > 0 { members.add("unlisted", unlisted) }
        return JSONText.object(members.all).text + "\n"
    }

    // MARK: The page

    func page(
        _ entries: [Entry],
        _ path: String,
        _ order: Order,
        isDescending: Bool,
        _ nonce: String
    ) -> String {
        let title = HTMLEscaping.escaped(path)
        var rows = isTop ? "" : "<tr><td><a href=\"../\">..</a></td><td></td><td></td></tr>\n"
        for entry in entries { rows += Self.row(entry) }
        let heads = Order.allCases.map { Self.head($0, isCurrent: $0 == order, isDescending: isDescending) }.joined()
        var cut = isTruncated ? "<p>There is more here than is listed.</p>\n" : ""
        if unlisted > 0 { cut += "<p>Not listed, as their names can't be in an address: \(unlisted).</p>\n" }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style nonce="\(nonce)">\(Self.style)</style>
            </head>
            <body>
            <h1>\(title)</h1>
            <table>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            \(cut)</body>
            </html>

            """
    }

    /// The head of a column, which sorts by it; once more the other way round.
    private static func head(_ order: Order, isCurrent: Bool, isDescending: Bool) -> String {
        let turns = isCurrent && !isDescending
        let sort = isCurrent ? " aria-sort=\"\(isDescending ? "descending" : "ascending")\"" : ""
        let sign = isCurrent ? (isDescending ? " ↓" : " ↑") : ""
        let name = order.rawValue.prefix(1).uppercased() + order.rawValue.dropFirst()
        let query = "sort=\(order.rawValue)" + (turns ? "&amp;order=desc" : "")
        return "<th scope=\"col\"\(sort)><a href=\"?\(query)\">\(name)\(sign)</a></th>"
    }

    private static func row(_ entry: Entry) -> String {
        let slash = entry.isFolder ? "/" : ""
        // In front, so that a name with a colon in it is no scheme.
        let link = "./" + PercentEncoding.segment(entry.name) + slash
        let size = entry.isFolder ? "" : size(entry.size)
        return """
            <tr><td><a href="\(link)">\(HTMLEscaping.escaped(entry.name))\(slash)</a></td>\
            <td>\(size)</td><td>\(entry.modified)</td></tr>

            """
    }

    /// A size for people: three digits or so.
    static func size(_ bytes: UInt64) -> String {
        var (unit, name) = (UInt64(1), "B")
        for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] where bytes / unit >= 1_000 {
            (unit, name) = (unit << 10, next)
        }
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: unit)
        let tenth = unit > 1 && whole < 10 ? ".\(rest * 10 / unit)" : ""
        return "\(whole)\(tenth) \(name)"
    }

    private static let style = """
        :root{color-scheme:light dark}
        body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
        h1{font-size:1.25rem;overflow-wrap:anywhere}
        table{border-collapse:collapse;width:100%}
        th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid color-mix(in srgb,currentcolor 20%,transparent)}
        th:nth-child(2),td:nth-child(2){text-align:right;white-space:nowrap}
        td:nth-child(1){overflow-wrap:anywhere}
        td:nth-child(3){white-space:nowrap}
        a{text-decoration:none}a:hover,a:focus{text-decoration:underline}
        """
}
