// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

// The page of a listing: without a script, light or dark as the system is.

extension FileListing {
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
        var cut = isCut ? "<p>There is more here than is listed.</p>\n" : ""
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
