// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("What is in a folder", .timeLimit(minutes: 1))
struct FileListingTests {
    private func withFolder(
        _ files: [String: String],
        _ body: @escaping @Sendable (TestClient) async throws -> Void
    ) async throws {
        try await withTestFolder(files, links: ["out": "/etc", "in": "b.txt"]) { root in
            var options = FileOptions()
            options.showsListings = true
            var server = WebServer(port: 0)
            server.files("/", folder: root, options: options)
            try await server.test { client async throws in try await body(client) }
        }
    }

    /// The texts of links on a page, in their order.
    private static func links(_ page: String) -> [String] {
        page.components(separatedBy: "<td><a href=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }

    private static let files = [
        "b.txt": "12345", "A.txt": "1", "c/d.txt": "", "Zoo/e.txt": "", ".hidden": "", "é ?#:.txt": "123",
    ]

    @Test("A page: folders first, then names; nothing hidden, and nothing that leads out")
    func page() async throws {
        try await withFolder(Self.files) { client async throws in
            let response = try await client.get("/", headers: [.accept: "text/html"])
            #expect(response.headers[.contentType] == "text/html; charset=utf-8" && response.headers[.vary] == "Accept")
            #expect(
                Self.links(response.text) == [
                    "./c/", "./Zoo/", "./A.txt", "./b.txt", "./in", "./%C3%A9%20%3F%23%3A.txt",
                ]
            )
            let below = try await client.get("/c/")
            #expect(Self.links(below.text) == ["../", "./d.txt"])
            // What the page leads to is there.
            for link in Self.links(response.text) {
                #expect(try await client.get("/" + link.dropFirst(2)).status == .ok, "\(link)")
            }
        }
    }

    @Test("Sorted as it is asked for")
    func sorting() async throws {
        try await withFolder(["b": "12345", "a": "1", "c": "123", "f/x": ""]) { client async throws in
            for (query, names) in [
                ("sort=size", ["f", "a", "c", "b"]), ("sort=size&order=desc", ["f", "b", "c", "a"]),
                ("order=desc", ["f", "c", "b", "a"]),
                ("sort=none", ["f", "a", "b", "c"]),
            ] {
                let links = Self.links(try await client.get("/?\(query)").text).filter { $0 != "./in" }
                #expect(links == names.map { $0 == "f" ? "./f/" : "./\($0)" }, "\(query)")
            }
        }
    }

    @Test(
        "Items of a query that can't be read are ignored",
        arguments: ["fbclid=%E9", "x=100%", "%zz=1&%E9", String(repeating: "a=1&", count: 1_100)]
    )
    func unreadableItems(items: String) async throws {
        try await withFolder(["b": "12345", "a": "1"]) { client async throws in
            let response = try await client.get("/?\(items)")
            #expect(response.status == .ok && Self.links(response.text) == ["./a", "./b"])
            let sorted = try await client.get("/?sort=size&order=desc&\(items)")
            #expect(sorted.status == .ok && Self.links(sorted.text) == ["./b", "./a"])
        }
    }

    @Test("Over a connection: a query that others have added to, and a range of an empty file")
    func overConnection() async throws {
        try await withTestFolder(["a.txt": "1", "empty.txt": ""]) { root in
            var options = FileOptions()
            options.showsListings = true
            try await withServer { server in
                server.files("/", folder: root, options: options)
            } _: { address in
                let peer = try await RawPeer.connect(to: address)
                let page = try await peer.response(to: "GET /?fbclid=%E9 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(page.status == 200 && Self.links(page.text) == ["./a.txt", "./empty.txt"])
                let request = "GET /empty.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1023\r\n\r\n"
                let empty = try await peer.response(to: request)
                #expect(empty.status == 200 && empty["Content-Length"] == "0")
            }
        }
    }

    @Test("The same as JSON for who wants that")
    func json() async throws {
        try await withFolder(Self.files) { client async throws in
            let response = try await client.get("/", headers: [.accept: "application/json"])
            #expect(response.headers[.contentType] == "application/json")
            let value = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
            let entries = try #require(value["entries"] as? [[String: Any]])
            #expect(entries.compactMap { $0["name"] as? String } == ["c", "Zoo", "A.txt", "b.txt", "in", "é ?#:.txt"])
            #expect(entries[0]["kind"] as? String == "folder" && entries[0]["size"] == nil)
            #expect(entries[3]["kind"] as? String == "file" && entries[3]["size"] as? Int == 5)
            #expect(value["isCut"] as? Bool == false)
        }
    }

    @Test("Names are no markup, and the page runs no script")
    func escaping() async throws {
        let name = #"<img src=x onerror=alert(1)>"'&.txt"#
        try await withFolder([name: "", "<b>/x": ""]) { client async throws in
            let response = try await client.get("/")
            #expect(!response.text.contains("<img") && !response.text.contains("<b>"))
            #expect(response.text.contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;.txt"))
            let policy = try #require(response.headers[.contentSecurityPolicy])
            #expect(policy.hasPrefix("default-src 'none'; style-src 'nonce-") && !policy.contains("unsafe"))
            let nonce = try #require(policy.split(separator: "-").last?.dropLast())
            #expect(response.text.contains("<style nonce=\"\(nonce)\">"))
            #expect(!(try await client.get("/%3Cb%3E/").text.contains("<b>")))
        }
    }

    @Test("A folder is cut at a bound, and says so")
    func cut() throws {
        let entry = FileListing.Entry(name: "a", isFolder: false, size: 1, modified: UnixTime(seconds: 0))
        let page = FileListing([entry], isTruncated: true, isTop: true).page(
            [entry],
            "/",
            .name,
            isDescending: false,
            "n"
        )
        #expect(page.contains("There is more here than is listed"))
        #expect(
            page.contains(
                "<th scope=\"col\" aria-sort=\"ascending\"><a href=\"?sort=name&amp;order=desc\">Name ↑</a></th>"
            )
        )
    }

    @Test(
        "Sizes for people",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "0.9 KiB"), (1_536, "1.5 KiB"), (10_240, "10 KiB"),
            (1 << 20, "1.0 MiB"), (5 << 30, "5.0 GiB"),
            (UInt64.max, "16383 PiB"),
        ]
    )
    func sizes(bytes: UInt64, text: String) {
        #expect(FileListing.size(bytes) == text)
    }
}
