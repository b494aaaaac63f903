// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import Foundation
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("The folder of duplex serve", .timeLimit(.minutes(1)))
struct FolderHandlerTests {
    /// Runs `body` beside a server of a folder with some files.
    private func withFolder(_ body: @escaping @Sendable (TestClient) async throws -> Void) async throws {
        try await withTemporaryFolder { root in
            let files = [
                "secret.txt": "outside", "public/index.html": "<p>root", "public/a b.txt": "text",
                "public/sub/index.html": "<p>sub", "public/empty/.keep": "", "public/.env": "hidden",
            ]
            for (path, text) in files {
                let url = URL(fileURLWithPath: root + path)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: url)
            }
            try FileManager.default.createSymbolicLink(
                atPath: root + "public/link.txt",
                withDestinationPath: root + "secret.txt"
            )
            var server = WebServer(port: 0)
            let folder = try FolderHandler(root + "public")
            DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async, folder: folder)
            try await WebServer.testing(server) { client async throws in try await body(client) }
        }
    }

    @Test("Files are answered with their type, folders with their index")
    func files() async throws {
        try await withFolder { client async throws in
            for (path, type, text) in [
                ("/", "text/html; charset=utf-8", "<p>root"), ("/index.html", "text/html; charset=utf-8", "<p>root"),
                ("/a%20b.txt?x=/../", "text/plain; charset=utf-8", "text"),
                ("/sub/", "text/html; charset=utf-8", "<p>sub"),
            ] {
                let response = try await client.get(path)
                #expect(response.status == .ok && response.text == text, "\(path)")
                #expect(response.fields[.contentType] == type)
                #expect(response.fields[.xContentTypeOptions] == "nosniff")
            }
            let head = try await client.request(.head, "/a%20b.txt")
            #expect(head.status == .ok && head.body.isEmpty && head.fields[.contentLength] == "4")
            let redirect = try await client.get("/sub?a=b")
            #expect(redirect.status == .movedPermanently && redirect.fields[.location] == "/sub/?a=b")
        }
    }

    @Test("A client that has the file gets 304")
    func conditions() async throws {
        try await withFolder { client async throws in
            let first = try await client.get("/")
            let tag = try #require(first.fields[.eTag])
            let modified = try #require(first.fields[.lastModified])
            for fields: HTTPFields in [[.ifNoneMatch: tag], [.ifModifiedSince: modified]] {
                let second = try await client.get("/", fields: fields)
                #expect(second.status == .notModified && second.body.isEmpty && second.fields[.eTag] == tag)
            }
            #expect(try await client.get("/", fields: [.ifNoneMatch: "\"x\""]).status == .ok)
        }
    }

    @Test(
        "Nothing leads out of the folder, and nothing that is hidden is answered",
        arguments: [
            "/../secret.txt", "/%2e%2e/secret.txt", "/sub/..%2f..%2fsecret.txt", "/link.txt", "/.env", "/empty/",
            "/sub/../../secret.txt", "//sub", "/sub//index.html", "/index.html/", "/a%00b", "/%ff", "/absent",
            "/sub/%2e%2e/index.html", "/empty/.keep",
        ]
    )
    func confined(path: String) async throws {
        try await withFolder { client async throws in
            let response = try await client.get(path)
            #expect([.notFound, .badRequest].contains(response.status), "\(response.status)")
            #expect(!response.text.contains("outside") && !response.text.contains("hidden"))
        }
    }

    @Test("Beside the files are the echo, the chat room and the events, and neither the page nor what it sends to")
    func beside() async throws {
        try await withFolder { client async throws in
            for path in ["/echo", "/any"] {
                let socket = try await client.webSocket(path)
                try await socket.send("hi")
                #expect(try await socket.receive() == "hi")
                await socket.close()
            }
            let chat = try await client.webSocket("/chat")
            #expect(try await chat.receive() == #"{"people":1}"#)
            await chat.close()
            let events = try await client.events("/events")
            #expect(try await events.nextData() == #"{"number":1,"after":null}"#)
            await events.close()
            for path in ["/demo", "/demo/log", "/demo/duplex.js", "/hello", "/bytes/3"] {
                #expect(try await client.get(path).status == .notFound, "\(path)")
            }
            #expect(try await client.post("/demo/upload", body: [1]).status == .methodNotAllowed)
        }
    }

    @Test("What isn't a folder is refused at once")
    func noFolder() async throws {
        try await withTemporaryFolder { root in
            let failure = #expect(throws: Failure.self) { try FolderHandler(root + "absent") }
            #expect(failure?.message.contains("is no folder") == true)
        }
    }
}
