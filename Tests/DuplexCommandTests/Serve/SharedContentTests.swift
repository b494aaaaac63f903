// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexTestTimes
import DuplexTesting
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("A folder that duplex serve shares", .timeLimit(minutes: 1))
struct SharedContentTests {
    private func withServer(
        _ arguments: [String],
        _ body: @escaping @Sendable (TestClient, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let options = try ServeArguments.parse(arguments)
            let server = try options.server(serving: .folder(folder), tls: nil, log: nil)
            try await WebServer.testing(server) { client async throws in try await body(client, folder) }
        }
    }

    @Test("As a disk it is at /dav, and its files are where they were")
    func webDAV() async throws {
        try await withServer(["--webdav"]) { client, _ async throws in
            let put = try await client.request(.put, "/dav/a.txt", body: Array("one".utf8))
            #expect(put.status == .created)
            #expect(try await client.get("/a.txt").text == "one")
            let listing = try await client.get("/", fields: [.accept: "text/html"])
            #expect(listing.text.contains("a.txt"))
            #expect(try await client.get("/.duplex/").status == .notFound)
            #expect(try await client.request(.put, "/b.txt", body: Array("one".utf8)).status == .methodNotAllowed)
        }
    }

    @Test(
        "With the page there is no listing, and the disk beside it where that is asked for",
        arguments: [false, true]
    )
    func page(hasWebDAV: Bool) async throws {
        try await withServer(["--upload"] + (hasWebDAV ? ["--webdav"] : [])) { client, _ async throws in
            let page = try await client.get("/")
            #expect(page.status == .ok && page.text.contains("<title>"))
            #expect(try await client.get("/list?path=").text.contains("\"entries\":[]"))
            let put = try await client.request(.put, "/dav/a.txt", body: Array("one".utf8))
            #expect((put.status == .created) == hasWebDAV)
            #expect(try await client.get("/list?path=").text.contains("a.txt") == hasWebDAV)
        }
    }

    @Test("Names with a dot at their beginning are hidden, unless --hidden shows them; .duplex is always hidden")
    func hidden() async throws {
        let names = [".sync", ".~lock.a.txt%23", "._a.txt", ".DS_Store"]
        for isShown in [false, true] {
            try await withServer(["--webdav"] + (isShown ? ["--hidden"] : [])) { client, _ async throws in
                for name in names {
                    let put = try await client.request(.put, "/dav/" + name, body: Array("1".utf8))
                    #expect(put.status == (isShown ? .created : .forbidden), "\(name)")
                    for place in ["/dav/", "/"] {
                        #expect(
                            try await client.get(place + name).status == (isShown ? .ok : .notFound),
                            "\(place)\(name)"
                        )
                    }
                }
                let folder = try await client.request(HTTPRequest.Method("MKCOL") ?? .get, "/dav/.notes")
                #expect(folder.status == (isShown ? .created : .forbidden))
                let listing = try await client.get("/", fields: [.accept: "text/html"]).text
                #expect(listing.contains(".sync") == isShown && !listing.contains(".duplex"))
                for own in [".duplex", ".DUPLEX-x"] {
                    for place in ["/dav/", "/"] {
                        #expect(try await client.get(place + own + "/").status == .notFound)
                    }
                    let put = try await client.request(.put, "/dav/\(own)/x", body: Array("1".utf8))
                    #expect(put.status != .created)
                }
            }
        }
    }

    @Test("Without either nobody writes")
    func neither() async throws {
        try await withServer([]) { client, _ async throws in
            #expect(try await client.request(.put, "/dav/a.txt", body: Array("one".utf8)).status != .created)
            #expect(try await client.get("/list?path=").status == .notFound)
        }
    }
}
