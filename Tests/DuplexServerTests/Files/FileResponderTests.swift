// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@Suite("The files of a folder", .timeLimit(minutes: 1))
struct FileResponderTests {
    private static let files = [
        "public/index.html": "<p>root", "public/a b.txt": "text", "public/sub/index.html": "<p>sub",
        "public/empty/": "",
        "public/.env": "hidden", "public/.well-known/token": "known", "public/404.html": "<p>own",
        "out/secret.txt": "outside",
        "public/app.js": "let a = 1", "public/app.js.br": "brotli", "public/app.js.gz": "gzip",
        "public/picture.png": "png",
        "public/picture.png.gz": "no", "public/app.3f9a1c2b.js": "hashed", "public/data.own": "own",
    ]

    /// Runs the body beside a server of the folder.
    private func withFiles(
        at path: String = "/",
        _ options: FileOptions = FileOptions(),
        _ body: @escaping @Sendable (TestClient, String) async throws -> Void
    ) async throws {
        let links = ["public/link.txt": "../out/secret.txt", "public/inside.txt": "a b.txt", "public/up": "../out"]
        try await withTestFolder(Self.files, links: links) { root in
            var server = WebServer(port: 0)
            server.files(path, folder: root + "public", options: options)
            try await server.test { client async throws in try await body(client, root) }
        }
    }

    @Test("Files are answered with their type, folders with their index", arguments: ["/", "/assets", "/a/b/"])
    func files(path: String) async throws {
        try await withFiles(at: path) { client, _ async throws in
            let prefix = path.hasSuffix("/") ? String(path.dropLast()) : path
            for (path, type, text) in [
                ("/", MediaType.html, "<p>root"), ("/index.html", .html, "<p>root"),
                ("/a%20b.txt?x=/../", .plainText, "text"),
                ("/sub/", .html, "<p>sub"), ("/.well-known/token", .octetStream, "known"),
            ] {
                let response = try await client.get(prefix + path)
                #expect(response.status == .ok && response.text == text, "\(path)")
                #expect(response.headers[.contentType] == type.rawValue)
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                #expect(response.headers[.cacheControl] == "no-cache" && response.headers[.acceptRanges] == "bytes")
            }
            let head = try await client.request(.head, prefix + "/a%20b.txt")
            #expect(head.status == .ok && head.body.isEmpty && head.headers[.contentLength] == "4")
            let redirect = try await client.get(prefix + "/sub?a=b")
            #expect(redirect.status == .movedPermanently && redirect.headers[.location] == prefix + "/sub/?a=b")
            let post = try await client.request(.post, prefix + "/a%20b.txt")
            #expect(post.status == .methodNotAllowed && post.headers[.allow] == "GET, HEAD, OPTIONS")
            if !prefix.isEmpty {
                #expect(try await client.get(prefix).headers[.location] == prefix + "/")
                #expect(try await client.get("/").status == .notFound)
            }
        }
    }

    @Test("A group's options hold for the files of a folder in it, however its path is written")
    func grouped() async throws {
        try await withTestFolder(["a.txt": "text"]) { root in
            var server = WebServer(port: 0)
            server.group("/admin", .basicAuth(realm: "admin") { $0.password == "right" }) { admin in
                admin.files("/files", folder: root)
            }
            try await server.test { client async throws in
                for path in ["/admin/files/a.txt", "/%61dmin/files/a.txt", "/admin/%66iles/a.txt", "/admin/files/none"]
                {
                    #expect(try await client.get(path).status == .unauthorized, "\(path)")
                }
                let field = "Basic " + Data("a:right".utf8).base64EncodedString()
                #expect(try await client.get("/admin/files/a.txt", headers: [.authorization: field]).text == "text")
            }
        }
    }

    @Test("A client that has the file gets 304; the tag stays the same text while the file does")
    func conditions() async throws {
        try await withFiles { client, root async throws in
            let first = try await client.get("/")
            let tag = try #require(first.headers[.eTag])
            #expect(tag.hasPrefix("\""))
            let modified = try #require(first.headers[.lastModified])
            for headers: HTTPFields in [[.ifNoneMatch: tag], [.ifModifiedSince: modified]] {
                let second = try await client.get("/", headers: headers)
                #expect(second.status == .notModified && second.body.isEmpty)
                #expect(second.headers[.eTag] == tag)
                #expect(second.headers[.cacheControl] == "no-cache")
            }
            #expect(try await client.get("/", headers: [.ifNoneMatch: "\"x\""]).status == .ok)
            #expect(try await client.get("/", headers: [.ifMatch: "\"x\""]).status == .preconditionFailed)
            // Another file under the same name, as long and as old.
            let path = root + "public/index.html"
            let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            try Data("<p>soot".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.modificationDate: date ?? Date()], ofItemAtPath: path)
            #expect(try await client.get("/", headers: [.ifNoneMatch: tag]).status == .ok)
        }
    }

    @Test(
        "Nothing leads out of the folder, and nothing that is hidden is answered",
        arguments: [
            "/../out/secret.txt", "/%2e%2e/out/secret.txt", "/sub/..%2f..%2fout/secret.txt", "/link.txt", "/.env",
            "/empty/", "/up/secret.txt",
            "/up/", "/sub/../../out/secret.txt", "//sub", "/sub//index.html", "/index.html/", "/a%00b", "/%ff",
            "/absent", "/sub/%2e%2e/index.html",
            "/picture.png%00.txt",
        ]
    )
    func confined(path: String) async throws {
        try await withFiles { client, _ async throws in
            let response = try await client.get(path)
            #expect(response.status == .notFound || response.status == .badRequest, "\(path)")
            #expect(!response.text.contains("outside") && !response.text.contains("hidden"))
        }
    }

    @Test("A link to a place in the folder is followed on Linux")
    func insideLink() async throws {
        try await withFiles { client, _ async throws in
            #if os(Linux)
            #expect(try await client.get("/inside.txt").text == "text")
            #endif
        }
    }

    @Test("A sibling that is coded is sent to who takes it, and not where it is older")
    func precompressed() async throws {
        try await withFiles { client, root async throws in
            for (accepted, coding, text) in [
                (nil, nil, "let a = 1"), ("gzip", "gzip", "gzip"), ("gzip, br", "br", "brotli"),
                ("br;q=0.5, gzip", "gzip", "gzip"),
                ("zstd", nil, "let a = 1"), ("gzip;q=0", nil, "let a = 1"),
                ("gzip;q=0.2, identity;q=0.8", nil, "let a = 1"),
            ] {
                var headers = HTTPFields()
                headers[.acceptEncoding] = accepted
                let response = try await client.get("/app.js", headers: headers)
                #expect(response.headers[.contentEncoding] == coding, "\(accepted ?? "")")
                #expect(response.body == Array(text.utf8) && response.headers[.vary] == "Accept-Encoding")
                #expect(response.headers[.contentType] == "text/javascript; charset=utf-8")
            }
            let tags = try await [client.get("/app.js"), client.get("/app.js", headers: [.acceptEncoding: "br"])].map {
                $0.headers[.eTag]
            }
            #expect(tags[0] != tags[1])
            // A picture is as short as it gets.
            let picture = try await client.get("/picture.png", headers: [.acceptEncoding: "gzip"])
            #expect(picture.text == "png" && picture.headers[.vary] == nil)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)],
                ofItemAtPath: root + "public/app.js.br"
            )
            #expect(try await client.get("/app.js", headers: [.acceptEncoding: "br"]).headers[.contentEncoding] == nil)
        }
    }

    @Test("A file that was changed, replaced or removed is seen at once; a sibling that is new, after a second")
    func changes() async throws {
        try await withFiles { client, root async throws in
            let path = root + "public/app.js"
            func text(_ coding: String? = nil) async throws -> String {
                try await client.get("/app.js", headers: coding.map { [.acceptEncoding: $0] } ?? [:]).text
            }
            #expect(try await text() == "let a = 1")
            try Data("let b = 22".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try await text() == "let b = 22")
            try Data("let c = 3".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            #expect(try await text() == "let c = 3")
            try FileManager.default.removeItem(atPath: path)
            #expect(try await client.get("/app.js").status == .notFound)
            try Data("let d = 4".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try await text("zstd") == "let d = 4")
            try Data("zstd".utf8).write(to: URL(fileURLWithPath: path + ".zst"))
            await client.clock.advance(by: .seconds(1))
            #expect(try await text("zstd") == "zstd")
            // The folder itself is another one.
            try FileManager.default.moveItem(atPath: root + "public/sub", toPath: root + "public/old")
            #expect(try await client.get("/sub/").status == .notFound)
        }
    }

    @Test("Pages of apps, own pages with 404, types, attachments and names that are kept")
    func options() async throws {
        var options = FileOptions()
        options.fallbackPage = "index.html"
        options.notFoundPage = "404.html"
        options.hashedNamesAreImmutable = true
        options.types = ["own": "text/own"]
        options.sendsAsAttachments = true
        try await withFiles(options) { client, _ async throws in
            let page = try await client.get("/orders/17", headers: [.accept: "text/html"])
            #expect(page.status == .ok && page.text == "<p>root")
            for (path, accept) in [("/orders/17.js", "text/html"), ("/orders/17", "application/json")] {
                let missing = try await client.get(path, headers: [.accept: accept])
                #expect(missing.status == .notFound && missing.text == "<p>own", "\(path)")
                #expect(missing.headers[.contentType] == "text/html; charset=utf-8" && missing.headers[.eTag] == nil)
            }
            #expect(
                try await client.get("/app.3f9a1c2b.js").headers[.cacheControl] == "public, max-age=31536000, immutable"
            )
            let own = try await client.get("/data.own")
            #expect(own.headers[.contentType] == "text/own")
            #expect(own.headers[.contentDisposition] == "attachment; filename=\"data.own\"")
        }
    }

    @Test("Hidden names are answered where they are to be")
    func hidden() async throws {
        var options = FileOptions()
        options.showsHidden = true
        try await withFiles(options) { client, _ async throws in
            #expect(try await client.get("/.env").text == "hidden")
            #expect(try await client.get("/../out/secret.txt").status != .ok)
        }
    }

    @Test("A folder that isn't there is an error when the server is to run")
    func noFolder() async throws {
        var server = WebServer(port: 0)
        server.files("/", folder: "/nonexistent/folder")
        await #expect {
            try await server.run { _ in }
        } throws: { error in
            (error as? RouteError)?.code == .noFolder && "\(error)".contains("/nonexistent/folder")
        }
    }

    @Test("A backslash in the path of a folder isn't one in the address of its redirect, however many there are")
    func backslashes() async throws {
        try await withTestFolder([#"a\\b\/index.html"#: "odd"]) { root in
            var server = WebServer(port: 0)
            server.files("/", folder: root)
            try await server.test { client async throws in
                let redirect = try await client.get(#"/a\\b\"#)
                #expect(redirect.status == .movedPermanently && redirect.headers[.location] == "/a%5C%5Cb%5C/")
            }
        }
    }
}
