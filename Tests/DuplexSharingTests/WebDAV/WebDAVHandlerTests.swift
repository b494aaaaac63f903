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

@testable import DuplexSharing

@Suite("Files by WebDAV", .timeLimit(minutes: 1))
struct WebDAVHandlerTests {
    @Test("OPTIONS tells of three classes, and of the methods")
    func options() async throws {
        try await WebDAVFixture.run { dav async throws in
            let response = try await dav.request(.options, "none")
            #expect(response.status == .ok && response.headers[.dav] == "1, 2, 3")
            #expect(response.headers[.msAuthorVia] == "DAV")
            #expect(response.headers[.allow]?.contains("PROPPATCH") == true)
        }
    }

    @Test(
        "OPTIONS of the server and of its root tell of WebDAV, wherever it is: Windows asks there before it mounts",
        arguments: ["/", "*"]
    )
    func optionsOfServer(target: String) async throws {
        try await withTestFolder([:]) { root in
            let folder = try SharedFolder(root)
            for hasRoot in [true, false] {
                try await withServer { server in
                    if hasRoot { server.get("/") { _ in "" } }
                    server.webDAV("/a/dav", folder: folder)
                } _: { address in
                    let peer = try await RawPeer.connect(to: address)
                    let answer = try await peer.response(to: "OPTIONS \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(answer.status == 200)
                    #expect(answer["DAV"] == "1, 2, 3" && answer["MS-Author-Via"] == "DAV")
                    #expect(answer["Allow"]?.contains("OPTIONS") == true)
                    let other = try await peer.response(to: "OPTIONS /b HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(other["DAV"] == nil)
                }
            }
        }
    }

    @Test("Pages of other origins may use WebDAV and uploads, with a usual policy")
    func crossOrigin() async throws {
        let origin = "https://app.example"
        try await withTestFolder(["a": "x"]) { root in
            let folder = try SharedFolder(root)
            var server = WebServer(port: 0)
            server.use(.cors(CORSPolicy(.origins(origin))))
            server.webDAV("/dav", folder: folder)
            server.resumableUploads("/uploads", folder: folder)
            try await server.test { client async throws in
                let methods = WebDAVHandler.methods + [.patch, .post, .head]
                let headers = [
                    "depth", "destination", "overwrite", "if", "lock-token", "timeout", "if-match", "if-none-match",
                    "if-modified-since", "if-unmodified-since", "if-range", "range", "content-type", "authorization",
                    "content-encoding", "x-expected-entity-length", "tus-resumable", "upload-length",
                    "upload-offset", "upload-metadata", "upload-concat", "upload-defer-length", "upload-checksum",
                    "x-http-method-override", "x-requested-with", "x-request-id", "cache-control",
                ]
                for path in ["/dav/", "/uploads", "/uploads/x"] {
                    for method in methods where method != .options {
                        let answer = try await client.request(
                            .options,
                            path,
                            headers: [.origin: origin, .accessControlRequestMethod: method.rawValue]
                        )
                        let names = (answer.headers[.accessControlAllowMethods] ?? "").split(separator: ", ")
                        #expect(names.contains(method.rawValue[...]), "\(method)")
                        let known = (answer.headers[.accessControlAllowHeaders] ?? "").lowercased()
                        #expect(Set(headers).subtracting(known.components(separatedBy: ", ")) == [])
                    }
                }
                let read = try await client.get("/dav/a", headers: [.origin: origin])
                let exposed = (read.headers[.accessControlExposeHeaders] ?? "").lowercased().split(separator: ", ")
                let wanted: Set<Substring> = [
                    "etag", "dav", "lock-token", "location", "content-range", "accept-ranges", "content-disposition",
                    "tus-resumable", "tus-version", "tus-extension", "tus-max-size", "tus-checksum-algorithm",
                    "upload-offset", "upload-length", "upload-metadata", "upload-expires", "upload-defer-length",
                    "upload-concat", "upload-path", "allow", "ms-author-via", "retry-after", "www-authenticate",
                ]
                #expect(wanted.subtracting(exposed) == [])
            }
        }
    }

    @Test("The tag of a file that isn't changed keeps its text, from its first second on")
    func keptTag() async throws {
        try await WebDAVFixture.run { dav async throws in
            let put = try await dav.request(.put, "a", [:], "x")
            let tag = try #require(put.headers[.eTag])
            #expect(!tag.hasPrefix("W/"))
            #expect(try await dav.request(.head, "a").headers[.eTag] == tag)
            let file = try #require(try await dav.properties("a")["/dav/a"]?[.dav("getetag")])
            #expect(file.text == tag)
            let other = try await dav.request(.put, "a", [:], "y")
            #expect(other.headers[.eTag] != tag)
        }
    }

    @Test("What is put is got, and the folder with it")
    func putAndGet() async throws {
        try await WebDAVFixture.run { dav async throws in
            let put = try await dav.request(.put, "a%20%C3%A4.txt", [:], "Hello")
            #expect(put.status == .created && put.headers[.eTag] != nil && dav.text("a ä.txt") == "Hello")
            #expect(try await dav.code(.put, "a%20%C3%A4.txt", [:], "World") == 204)
            // What Windows sends beside it.
            let translate = try #require(HTTPField.Name("Translate"))
            let get = try await dav.request(.get, "a%20%C3%A4.txt", [translate: "f"])
            #expect(get.text == "World" && get.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(get.headers[.contentSecurityPolicy] == "sandbox")
            #expect(try await dav.request(.get, "a%20%C3%A4.txt", [.range: "bytes=1-2"]).text == "or")
            #expect(try await dav.request(.get, "").text.contains("a%20%C3%A4.txt"))
            let head = try await dav.request(.head, "a%20%C3%A4.txt")
            #expect(head.headers[.contentLength] == "5" && head.body.isEmpty)
        }
    }

    @Test("A folder's page is where its URL ends with a slash; a file isn't there")
    func slashes() async throws {
        try await WebDAVFixture.run(["b/c": "x"]) { dav async throws in
            let response = try await dav.request(.get, "b")
            #expect(response.status == .movedPermanently && response.headers[.location] == "/dav/b/")
            #expect(try await dav.client.request(.get, "/dav").headers[.location] == "/dav/")
            #expect(try await dav.code(.get, "b/c/") == 404)
            #expect(try await dav.code(.put, "b/d/", [:], "x") == 405)
        }
    }

    @Test("PUT needs a folder, and isn't for folders or parts")
    func putRefused() async throws {
        try await WebDAVFixture.run(["b/c": "x"]) { dav async throws in
            #expect(try await dav.code(.put, "none/a", [:], "x") == 409)
            let folder = try await dav.request(.put, "b", [:], "x")
            #expect(folder.status == .methodNotAllowed)
            #expect(
                folder.headers[.allow]
                    == "COPY, DELETE, GET, HEAD, LOCK, MKCOL, MOVE, OPTIONS, PROPFIND, PROPPATCH, UNLOCK"
            )
            #expect(try await dav.request(.mkcol, "b").headers[.allow]?.contains("MKCOL") == false)
            #expect(try await dav.code(.put, "b/c", [.contentRange: "bytes 0-0/1"], "y") == 400)
            #expect(try await dav.code(.put, "b/c/d", [:], "x") == 409)
            #expect(try await dav.code(.put, "%2e%2e/a", [:], "x") == 403)
            #expect(try await dav.code(.put, ".duplex/a", [:], "x") == 403)
            #expect(dav.text("b/c") == "x")
        }
    }

    @Test("Conditions of HTTP guard what changes something")
    func conditions() async throws {
        try await WebDAVFixture.run(["a": "x"]) { dav async throws in
            #expect(try await dav.code(.put, "a", [.ifNoneMatch: "*"], "y") == 412)
            #expect(try await dav.code(.put, "a", [.ifMatch: "\"other\""], "y") == 412)
            #expect(try await dav.code(.delete, "a", [.ifMatch: "\"other\""]) == 412)
            #expect(try await dav.code(.put, "b", [.ifMatch: "*"], "y") == 412)
            #expect(dav.text("a") == "x" && dav.text("b") == nil)
            #expect(try await dav.code(.put, "b", [.ifNoneMatch: "*"], "y") == 201)
            // A date that is long ago isn't met by what was just written.
            let date = "Sun, 06 Nov 1994 08:49:37 GMT"
            #expect(try await dav.code(.move, "a", [.ifUnmodifiedSince: date, .destination: "/dav/c"]) == 412)
        }
    }

    @Test("Who has just made a file can write it on condition that nobody else has")
    func freshTags() async throws {
        try await WebDAVFixture.run { dav async throws in
            let first = try #require(try await dav.request(.put, "a", [:], "x").headers[.eTag])
            // A proxy that compresses makes a tag weak.
            let second = try #require(try await dav.request(.put, "a", [.ifMatch: "W/\(first)"], "y").headers[.eTag])
            #expect(try await dav.code(.put, "a", [.ifMatch: first], "z") == 412)
            #expect(try await dav.code(.put, "a", [.ifMatch: "\"1\", \(second)"], "z") == 204)
            #expect(try await dav.code(.delete, "a", [.ifMatch: second]) == 412)
            #expect(dav.text("a") == "z")
        }
    }

    @Test("The Finder's length beside a body in chunks is held to")
    func expectedLength() async throws {
        try await WebDAVFixture.run { dav async throws in
            func put(_ length: String) async throws -> Int {
                let headers: HTTPFields = [.transferEncoding: "chunked", .xExpectedEntityLength: length]
                let body = "5\r\nHello\r\n0\r\n\r\n"
                return try await dav.request(.put, "a", headers, body).status.code
            }
            #expect(try await put("6") == 400)
            #expect(dav.text("a") == nil)
            #expect(try await put("4") == 400)
            #expect(dav.text("a") == nil)
            #expect(try await put("five") == 400)
            #expect(try await put("5") == 201)
            #expect(dav.text("a") == "Hello")
        }
    }

    @Test("A file is put as it is: what is coded for the way isn't taken")
    func coded() async throws {
        try await WebDAVFixture.run { dav async throws in
            #expect(try await dav.code(.put, "a.gz", [.contentEncoding: "gzip"], "x") == 415)
            #expect(dav.text("a.gz") == nil)
        }
    }

    @Test("A long file in chunks of no length that is known is written whole")
    func long() async throws {
        try await WebDAVFixture.run { dav async throws in
            let connection = await dav.client.connect()
            try await connection.begin(.put, "/dav/a")
            let piece = [UInt8](repeating: 7, count: 1 << 20)
            for _ in 0..<64 { try await connection.write(piece) }
            try await connection.finish()
            #expect(try await connection.response().status == .created)
            await connection.close()
            #expect(try await dav.request(.head, "a").headers[.contentLength] == "67108864")
        }
    }

    @Test("MKCOL makes one folder, without a body")
    func makesFolders() async throws {
        try await WebDAVFixture.run(["a": "x"]) { dav async throws in
            #expect(try await dav.code(.mkcol, "b/") == 201)
            #expect(dav.isFolder("b"))
            #expect(try await dav.code(.mkcol, "b") == 405)
            #expect(try await dav.code(.mkcol, "a") == 405)
            #expect(try await dav.code(.mkcol, "c/d") == 409)
            #expect(try await dav.code(.mkcol, "a/d") == 409)
            #expect(try await dav.code(.mkcol, "e", [:], "<a/>") == 415)
            #expect(!dav.isFolder("e"))
        }
    }

    @Test("DELETE takes a file, or a folder with all in it")
    func deletes() async throws {
        try await WebDAVFixture.run(["a": "x", "b/c/d": "x"]) { dav async throws in
            #expect(try await dav.code(.delete, "none") == 404)
            #expect(try await dav.code(.delete, "a/") == 404)
            #expect(try await dav.code(.delete, "a") == 204)
            #expect(try await dav.code(.delete, "b", [.depth: "0"]) == 400)
            #expect(try await dav.code(.delete, "b") == 204)
            #expect(dav.text("a") == nil && !dav.isFolder("b"))
            #expect(try await dav.code(.delete, "") == 403)
        }
    }

    @Test("What the Finder makes beside files isn't taken, unless it is asked for")
    func finderFiles() async throws {
        var folder = FolderOptions()
        folder.showsHidden = true
        var sharing = WebDAVOptions()
        for takes in [false, true] {
            sharing.takesFinderFiles = takes
            try await WebDAVFixture.run(["._b": "x"], sharing: sharing, folder: folder) { dav async throws in
                for name in ["._a", ".DS_Store"] {
                    #expect(try await dav.code(.put, name, [:], "x") == (takes ? 201 : 403))
                }
                #expect(try await dav.code(.get, "._b") == (takes ? 200 : 404))
                #expect(try await dav.properties("", depth: "1").keys.contains("/dav/._b") == takes)
                #expect(try await dav.code(.put, ".other", [:], "x") == 201)
            }
        }
        try await WebDAVFixture.run { dav async throws in
            #expect(try await dav.code(.put, "._a", [:], "x") == 403)
            #expect(try await dav.code(.put, ".other", [:], "x") == 403)
        }
    }

    @Test("Who may only read, reads")
    func readers() async throws {
        var options = FolderOptions()
        options.access = { $0.user == "writer" ? .readAndWrite : $0.user == "reader" ? .read : .none }
        try await WebDAVFixture.run(["a": "x", "b/c": "x"], folder: options) { dav async throws in
            let changes: [(HTTPRequest.Method, HTTPFields, String)] = [
                (.put, [:], "y"), (.delete, [:], ""), (.copy, [.destination: "/dav/z"], ""),
                (.move, [.destination: "/dav/z"], ""), (.lock, [:], WebDAVFixture.lockInfo()),
                (
                    .proppatch, [:],
                    "<p:propertyupdate xmlns:p='DAV:'><p:set><p:prop><x/></p:prop></p:set></p:propertyupdate>"
                ),
            ]
            for (method, headers, body) in changes {
                #expect(try await dav.with("reader").code(method, "a", headers, body) == 403, "\(method)")
                #expect(try await dav.with("nobody").code(method, "a", headers, body) == 403, "\(method)")
            }
            #expect(try await dav.with("reader").code(.get, "a") == 200)
            #expect(try await dav.with("reader").code(.propfind, "a", [.depth: "0"]) == 207)
            #expect(try await dav.with("nobody").code(.get, "a") == 403)
            #expect(try await dav.with("nobody").code(.propfind, "a", [.depth: "0"]) == 403)
            #expect(try await dav.with("writer").code(.put, "a", [:], "y") == 204)
        }
    }
}
