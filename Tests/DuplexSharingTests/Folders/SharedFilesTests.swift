// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexSharing

@Suite("The files of a shared folder", .timeLimit(minutes: 1))
struct SharedFilesTests {
    private static let long = String(repeating: "all the same ", count: 4_000)
    private static let files = [
        "a.txt": "text", ".env": "hidden", ".well-known/token": "hidden", "sub/index.html": "<p>sub", "sub/b.txt": "b",
        "long.txt": long, ".duplex-x/c.txt": "own", "list/a.txt": "a", "list/.b": "hidden", "404.html": "<p>own",
        "app.js": "let a = 1", "app.js.br": "brotli",
    ]

    private func withFiles(
        _ options: FolderOptions,
        serving: FileOptions = FileOptions(),
        _ body: @escaping @Sendable (TestClient, String) async throws -> Void
    ) async throws {
        try await withTestFolder(Self.files, links: ["out.txt": "/etc/hostname"]) { root in
            let folder = try SharedFolder(root, options: options)
            var server = WebServer(port: 0)
            let authentication = RouteOption.basicAuth(realm: "files") { $0.password == "right" }
            server.files("/files", authentication, folder: folder, options: serving)
            try await server.test { client async throws in try await body(client, root) }
        }
    }

    private static func login(_ user: String = "ann") -> HTTPFields {
        [.authorization: "Basic " + Data("\(user):right".utf8).base64EncodedString()]
    }

    @Test("Who isn't let in gets 401, who may not read 403, and who may the file")
    func access() async throws {
        var options = FolderOptions()
        options.access = { $0.user == "ann" ? .read : .none }
        var serving = FileOptions()
        serving.showsListings = true
        try await withFiles(options, serving: serving) { client, _ async throws in
            for path in ["/files/a.txt", "/files/sub/", "/files/list/", "/files/absent", "/files/.env"] {
                #expect(try await client.get(path).status == .unauthorized, "\(path)")
                let refused = try await client.get(path, headers: Self.login("bob"))
                #expect(refused.status == .forbidden && !refused.text.contains("b.txt"), "\(path)")
            }
            let file = try await client.get("/files/a.txt", headers: Self.login())
            #expect(
                file.status == .ok && file.text == "text" && file.headers[.contentType] == "text/plain; charset=utf-8"
            )
            #expect(file.headers[.contentSecurityPolicy] == "sandbox")
            #expect(file.headers[.cacheControl] == "private, no-cache")
            #expect(try await client.get("/files/sub/", headers: Self.login()).text == "<p>sub")
            #expect(try await client.get("/files/sub", headers: Self.login()).headers[.location] == "/files/sub/")
        }
    }

    @Test("What the folder doesn't show is neither sent nor listed, unless it does", arguments: [false, true])
    func hidden(isShown: Bool) async throws {
        var options = FolderOptions()
        options.showsHidden = isShown
        var serving = FileOptions()
        serving.showsListings = true
        serving.showsHidden = !isShown
        try await withFiles(options, serving: serving) { client, _ async throws in
            for path in ["/files/.env", "/files/.well-known/token", "/files/list/.b"] {
                let response = try await client.get(path, headers: Self.login())
                #expect(response.status == (isShown ? .ok : .notFound), "\(path)")
                #expect(response.text.contains("hidden") == isShown)
            }
            for path in ["/files/.duplex/", "/files/.duplex-x/c.txt", "/files/out.txt", "/files/a%0Ab"] {
                #expect(try await client.get(path, headers: Self.login()).status == .notFound, "\(path)")
            }
            var headers = Self.login()
            headers[.accept] = "application/json"
            let listing = try await client.get("/files/list/", headers: headers).text
            #expect(listing.contains("a.txt") && listing.contains(".b") == isShown)
            let all = try await client.get("/files/", headers: headers).text
            #expect(all.contains("long.txt") && !all.contains(".duplex") && !all.contains("out.txt"))
            #expect(all.contains(".env") == isShown)
        }
    }

    @Test(
        "The app is asked before a file is sent, by the name that is read, and told of it; what it throws is answered"
    )
    func hooks() async throws {
        let asked = Mutex<[String]>([])
        let told = Mutex<[String]>([])
        var options = FolderOptions()
        options.before = { operation in
            asked.withLock { $0.append("\(operation.kind) \(operation.path) \(operation.visitor.user ?? "")") }
            if operation.path.name == "b.txt" { throw Problem(.tooManyRequests, "Not today.") }
        }
        options.after = { operation in told.withLock { $0.append(operation.path.text) } }
        var serving = FileOptions()
        serving.notFoundPage = "404.html"
        try await withFiles(options, serving: serving) { client, _ async throws in
            #expect(try await client.get("/files/a.txt", headers: Self.login()).text == "text")
            #expect(try await client.get("/files/sub/", headers: Self.login()).text == "<p>sub")
            let refused = try await client.get("/files/sub/b.txt", headers: Self.login())
            #expect(refused.status == .tooManyRequests && refused.text.contains("Not today."))
            #expect(try await client.get("/files/absent", headers: Self.login()).text == "<p>own")
        }
        #expect(
            asked.withLock { $0 } == [
                "read /a.txt ann", "read /sub/index.html ann", "read /sub/b.txt ann", "read /404.html ann",
            ]
        )
        #expect(told.withLock { $0 } == ["a.txt", "sub/index.html", "404.html"])
    }

    @Test("Conditions, ranges and codings are as of any folder")
    func forms() async throws {
        try await withFiles(FolderOptions()) { client, root async throws in
            var headers = Self.login()
            headers[.acceptEncoding] = "gzip, br"
            let coded = try await client.get("/files/long.txt", headers: headers)
            #expect(coded.headers[.contentEncoding] == "gzip" && coded.body.count < 1_000)
            #expect(try await client.get("/files/app.js", headers: headers).text == "brotli")
            headers[.ifNoneMatch] = coded.headers[.eTag]
            #expect(try await client.get("/files/long.txt", headers: headers).status == .notModified)
            headers = Self.login()
            headers[.range] = "bytes=4-6"
            let part = try await client.get("/files/long.txt", headers: headers)
            #expect(part.status == .partialContent && part.text == "the")
            try Data("more".utf8).write(to: URL(fileURLWithPath: root + "a.txt"))
            #expect(try await client.get("/files/a.txt", headers: Self.login()).text == "more")
        }
    }
}
