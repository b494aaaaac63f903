// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexSharing

@Suite("Requests of WebDAV")
struct WebDAVRequestTests {
    /// What the request is read as behind two segments.
    private static func read<Value: Sendable>(
        _ path: String,
        _ body: @escaping @Sendable (WebDAVRequest) throws -> Value
    ) async throws -> Value? {
        let found = Mutex<Value?>(nil)
        var server = WebServer(port: 0)
        server.mount([.get], at: "/a/b", []) { request, depth in
            let value = try body(try WebDAVRequest(request, depth: depth))
            found.withLock { $0 = value }
            return Response()
        }
        try await server.test { client async throws in _ = try await client.get(path) }
        return found.withLock { $0 }
    }

    @Test(
        "Where it leads, with a slash or without",
        arguments: [
            ("/a/b", "", true), ("/a/b/", "", true), ("/a/b/c", "c", false), ("/a/b/c/", "c", true),
            ("/a/b/%C3%A4/d%20e", "ä/d e", false),
        ]
    )
    func paths(path: String, text: String, endsWithSlash: Bool) async throws {
        let found = try await Self.read(path) { ($0.path.text, $0.endsWithSlash) }
        #expect(found?.0 == text && found?.1 == endsWithSlash)
    }

    @Test("What can't be a path is nothing", arguments: ["/a/b/..", "/a/b/c//d", "/a/b/c%2Fd", "/a/b/.duplex/x"])
    func noPaths(path: String) async throws {
        #expect(try await Self.read(path) { $0.path.text } == nil)
    }

    @Test("URLs are those below the folder, as the client writes it")
    func hrefs() async throws {
        let hrefs = try await Self.read("/%61/b/x") { request in
            [
                request.href(.root, isFolder: true),
                request.href(try #require(FolderPath("ä b/c")), isFolder: false),
                request.href(try #require(FolderPath("d")), isFolder: true),
            ]
        }
        #expect(hrefs == ["/%61/b/", "/%61/b/%C3%A4%20b/c", "/%61/b/d/"])
    }

    @Test("Another URL is in the folder, or isn't")
    func others() async throws {
        let paths = try await Self.read("/a/b/x") { request in
            try ["/a/b/c/", "/a/%62/c", "/a/c/c", "/a", "/a/b"].map { try request.folderPath(of: $0)?.text }
        }
        #expect(paths == ["c", "c", nil, nil, ""])
        #expect(try await Self.read("/a/b/x") { try $0.folderPath(of: "/a/b/../c")?.text } == nil)
    }
}

@Suite("Refusals of WebDAV")
struct WebDAVRefusalTests {
    private static func text(_ refusal: WebDAVRefusal) -> String {
        String(decoding: refusal.response.body.bytes ?? [], as: UTF8.self)
    }

    @Test("A condition is named in an error of DAV:")
    func condition() {
        let refusal = WebDAVRefusal.condition(.locked, .dav("lock-token-submitted"))
        #expect(refusal.response.status == .locked)
        #expect(Self.text(refusal).hasSuffix("<D:error xmlns:D=\"DAV:\"><D:lock-token-submitted/></D:error>\n"))
    }

    @Test("As many URLs are told as fit in a number of bytes, and the first in any case")
    func told() {
        let hrefs = [String](repeating: String(repeating: "x", count: 1_024), count: 1_000)
        #expect(WebDAVRefusal.told(hrefs).count == 16)
        #expect(WebDAVRefusal.told([String(repeating: "x", count: 20_000), "y"]).count == 1)
        #expect(WebDAVRefusal.told([]) == [] && WebDAVRefusal.told(["a", "b"]) == ["a", "b"])
    }

    @Test("What is elsewhere is in a list")
    func elsewhere() {
        let refusal = WebDAVRefusal.elsewhere([("/a", .locked, nil), ("/b", .failedDependency, nil)])
        #expect(
            refusal.response.status == .multi
                && refusal.response.headers[.contentType] == "application/xml; charset=utf-8"
        )
        #expect(Self.text(refusal).contains("/b</D:href><D:status>HTTP/1.1 424 Failed Dependency"))
    }
}
