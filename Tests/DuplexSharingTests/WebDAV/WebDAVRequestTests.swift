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
        try await WebServer.testing(server) { client async throws in _ = try await client.get(path) }
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
