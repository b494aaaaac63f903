// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("Resumable uploads: core, creation, termination", .timeLimit(minutes: 1))
struct ResumableUploadsTests {
    @Test("OPTIONS tells what there is, whatever version is asked for")
    func options() async throws {
        var taking = ResumableUploadOptions()
        taking.size = .mebibytes(1)
        try await UploadFixture.run(taking) { up async throws in
            for path in ["/up", "/up/abc"] {
                let response = try await up.client.request(.options, path, headers: [UploadProtocol.resumable: "9"])
                #expect(response.status == .noContent && response.headers[UploadProtocol.versions] == "1.0.0")
                #expect(response.headers[UploadProtocol.maximum] == "1048576")
                #expect(response.headers[UploadProtocol.extensionList]?.contains("creation-defer-length") == true)
            }
        }
    }

    @Test("OPTIONS says nothing of a largest size where there is none")
    func unlimited() async throws {
        var taking = ResumableUploadOptions()
        taking.size = .unlimited
        try await UploadFixture.run(taking) { up async throws in
            let response = try await up.client.request(.options, "/up")
            #expect(response.status == .noContent && response.headers[UploadProtocol.maximum] == nil)
        }
    }

    @Test("A file comes in pieces, and has its name when it is whole")
    func pieces() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a ä.txt", 10)
            #expect(url.hasPrefix("/up/"))
            let first = try await up.patch(url, 0, "Hello")
            #expect(first.status == .noContent && first.headers[UploadProtocol.offset] == "5")
            #expect(first.headers[UploadProtocol.resumable] == "1.0.0" && first.headers[UploadProtocol.expires] != nil)
            #expect(up.text("a ä.txt") == nil)
            let head = try await up.request(.head, url)
            #expect(head.status == .ok && head.headers[.cacheControl] == "no-store")
            #expect(head.headers[UploadProtocol.offset] == "5" && head.headers[UploadProtocol.length] == "10")
            #expect(head.headers[UploadProtocol.metadata] == UploadFixture.metadata(["name": "a ä.txt"]))
            let last = try await up.patch(url, 5, "World")
            #expect(
                last.headers[UploadProtocol.offset] == "10" && last.headers[UploadProtocol.path] == "a%20%C3%A4.txt"
            )
            #expect(up.text("a ä.txt") == "HelloWorld")
            // A client that has missed the answer is told again.
            let again = try await up.request(.head, url)
            #expect(again.headers[UploadProtocol.offset] == "10")
            #expect(again.headers[UploadProtocol.path] == "a%20%C3%A4.txt")
            #expect(try await up.patch(url, 10, "").status == .noContent)
            #expect(try up.leftovers().map { $0.hasSuffix(".state") } == [true])
        }
    }

    @Test("An upload goes on behind a restart of the server")
    func restart() async throws {
        try await withTestFolder { root in
            func run(_ body: (UploadFixture) async throws -> String) async throws -> String {
                var server = WebServer(port: 0)
                server.resumableUploads("/up", folder: try SharedFolder(root))
                return try await server.test { client async throws in
                    try await body(UploadFixture(client: client, root: root))
                }
            }
            let url = try await run { up async throws in
                let url = try await up.create("a", 10)
                #expect(try await up.patch(url, 0, "Hello").status == .noContent)
                return url
            }
            let offset = try await run { up async throws in try await up.offset(url) ?? "" }
            #expect(offset == "5")
            let path = try await run { up async throws in
                try await up.patch(url, 5, "World").headers[UploadProtocol.path] ?? ""
            }
            #expect(path == "a")
            // Also the word that it is whole.
            #expect(try await run { up async throws in try await up.offset(url) ?? "" } == "10")
            let text = FileManager.default.contents(atPath: root + "a").map { String(decoding: $0, as: UTF8.self) }
            #expect(text == "HelloWorld")
        }
    }

    @Test("What doesn't fit is refused and changes nothing")
    func refused() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 5)
            #expect(try await up.patch(url, 1, "x").status == .conflict)
            #expect(try await up.patch(url, 0, "123456").status == .contentTooLarge)
            #expect(try await up.request(.patch, url, [UploadProtocol.offset: "0"]).status == .unsupportedMediaType)
            let old = try await up.client.request(.head, url, headers: [UploadProtocol.resumable: "0.2.2"])
            #expect(old.status == .preconditionFailed && old.headers[UploadProtocol.versions] == "1.0.0")
            #expect(old.headers[UploadProtocol.resumable] == "1.0.0")
            #expect(try await up.request(.head, "/up/" + String(repeating: "0", count: 32)).status == .notFound)
            #expect(try await up.request(.head, "/up/..%2f..").status == .notFound)
            #expect(try await up.request(.post, url).status == .methodNotAllowed)
            #expect(try await up.offset(url) == "0")
            #expect(try await up.request(.get, url).status == .methodNotAllowed)
        }
    }

    @Test("A client that can send POST alone says the method by a field")
    func override() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 2)
            let patch: HTTPFields = [
                UploadProtocol.method: "PATCH", .contentType: UploadProtocol.contentType, UploadProtocol.offset: "0",
            ]
            #expect(try await up.request(.post, url, patch, body: [97]).headers[UploadProtocol.offset] == "1")
            #expect(try await up.request(.post, url, [UploadProtocol.method: "DELETE"]).status == .noContent)
            #expect(try await up.request(.head, url).status == .notFound)
        }
    }

    @Test("An upload that is ended is gone, with all of it")
    func termination() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 5)
            _ = try await up.patch(url, 0, "Hel")
            #expect(try await up.request(.delete, url).status == .noContent)
            #expect(try await up.request(.delete, url).status == .notFound)
            #expect(try await up.patch(url, 3, "lo").status == .notFound)
            #expect(try up.leftovers().isEmpty && up.text("a") == nil)
        }
    }

    @Test("An upload that rests too long is gone, and one that goes on rests anew")
    func expiration() async throws {
        let clock = Mutex(UnixTime(seconds: 1_900_000_000))
        let wait = { (seconds: Int64) in clock.withLock { $0.seconds += seconds } }
        try await withTestFolder { root in
            var server = WebServer(port: 0)
            let uploads = ResumableUploads(try SharedFolder(root), ResumableUploadOptions()) { clock.withLock { $0 } }
            server.add(uploads, at: "/up", [])
            try await server.test { client async throws in
                let up = UploadFixture(client: client, root: root)
                let url = try await up.create("a", 5)
                #expect(
                    try await up.request(.head, url).headers[UploadProtocol.expires]
                        == HTTPDate.string(UnixTime(seconds: 1_900_086_400))
                )
                wait(86_000)
                #expect(try await up.patch(url, 0, "H").status == .noContent)
                wait(86_000)
                #expect(try await up.offset(url) == "1")
                wait(401)
                #expect(try await up.patch(url, 1, "ello").status == .gone)
                #expect(try await up.request(.head, url).status == .notFound)
                #expect(try up.leftovers().isEmpty)
            }
        }
    }

    @Test("Uploads belong to whom began them")
    func users() async throws {
        try await withTestFolder { root in
            var server = WebServer(port: 0)
            server.use(
                .before { request in
                    if let user = request.headers[.from] { request.user = user }
                    return nil
                }
            )
            server.resumableUploads("/up", folder: try SharedFolder(root))
            try await server.test { client async throws in
                let up = UploadFixture(client: client, root: root)
                let url = try await up.create("a", 5, [.from: "ann"])
                for user in [[:], [.from: "bob"]] as [HTTPFields] {
                    #expect(try await up.request(.head, url, user).status == .notFound)
                    #expect(try await up.request(.delete, url, user).status == .notFound)
                }
                #expect(try await up.patch(url, 0, "Hello", [.from: "ann"]).status == .noContent)
                #expect(up.text("a") == "Hello")
            }
        }
    }

    @Test("Who may not write begins nothing, and hooks are asked and told")
    func policy() async throws {
        var options = FolderOptions()
        options.access = { $0.user == nil ? .read : .readAndWrite }
        try await UploadFixture.run(folder: options) { up async throws in
            for headers in [[:], [UploadProtocol.concatenation: "partial"]] as [HTTPFields] {
                var headers = headers
                headers[UploadProtocol.length] = "5"
                headers[UploadProtocol.metadata] = UploadFixture.metadata(["name": "a"])
                let response = try await up.request(.post, "/up", headers)
                #expect(response.status == .forbidden && response.headers[UploadProtocol.resumable] == "1.0.0")
            }
        }
        let seen = Mutex<[String]>([])
        var hooked = FolderOptions()
        hooked.allowedExtensions = ["txt"]
        hooked.syncs = true
        hooked.before = { operation in
            if operation.path.name == "no.txt" { throw Problem(.forbidden, "Not that one.") }
        }
        hooked.after = { operation in seen.withLock { $0.append("\(operation.kind) \(operation.path.text)") } }
        try await UploadFixture.run(folder: hooked) { up async throws in
            for (name, status) in [("no.txt", 403), ("a.exe", 415)] {
                let headers: HTTPFields = [
                    UploadProtocol.length: "5", UploadProtocol.metadata: UploadFixture.metadata(["name": name]),
                ]
                #expect(try await up.request(.post, "/up", headers).status.code == status)
            }
            let url = try await up.create("b/c/a.txt", 5)
            _ = try await up.patch(url, 0, "Hello")
            #expect(up.text("b/c/a.txt") == "Hello")
            #expect(seen.withLock { $0 } == ["createFolder b", "createFolder b/c", "write b/c/a.txt"])
        }
    }
}

@Suite("Where an upload is to be")
struct UploadTargetTests {
    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private static func target(_ values: KeyValuePairs<String, String>) throws(UploadRefusal) -> UploadTarget {
        let text = values.map { "\($0) \(base64($1))" }.joined(separator: ",")
        return try UploadTarget(UploadMetadata(text) ?? .none, onConflict: .refuse)
    }

    @Test("The name may lead into folders, and the path to the folder that they are in")
    func paths() throws {
        #expect(try Self.target(["name": "a.txt"]).path.text == "a.txt")
        #expect(try Self.target(["filename": "ä.txt", "path": "b/c"]).path.text == "b/c/ä.txt")
        let target = try Self.target(["name": "d/e.txt", "path": "b", "clash": "number"])
        #expect(target.path.text == "b/d/e.txt" && target.conflict == .number)
    }

    @Test("What is no path is refused, and so is a clash that isn't known")
    func refused() {
        let cases: [(KeyValuePairs<String, String>, Int)] = [
            ([:], 400), (["name": ""], 400), (["name": "../a"], 403), (["name": "a/../b"], 403),
            (["name": ".duplex/x"], 403), (["name": "a\u{0}"], 403), (["name": "a", "path": ".."], 403),
            (["name": "/"], 403), (["name": "a", "clash": "ask"], 400),
        ]
        for (values, status) in cases {
            do {
                _ = try Self.target(values)
                Issue.record("\(values) is taken")
            } catch {
                #expect(error.status.code == status, "\(values)")
            }
        }
    }
}
