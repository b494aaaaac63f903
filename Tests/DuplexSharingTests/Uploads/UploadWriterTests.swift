// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Resumable uploads: what comes, is cut off, is checked, and gets its name", .timeLimit(minutes: 1))
struct UploadWriterTests {
    private static let digest = "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0="

    /// Begins a PATCH that says more than it sends.
    private func begin(
        _ up: UploadFixture,
        _ url: String,
        _ offset: Int,
        _ text: String,
        of count: Int,
        _ others: HTTPFields = [:]
    ) async throws -> TestConnection {
        let connection = await up.client.connect()
        var headers = others
        headers[UploadProtocol.resumable] = "1.0.0"
        headers[.contentType] = UploadProtocol.contentType
        headers[UploadProtocol.offset] = "\(offset)"
        headers[.contentLength] = "\(count)"
        try await connection.begin(.patch, url, headers: headers)
        try await connection.write(Array(text.utf8))
        return connection
    }

    @Test("What came before a client was cut off is kept, at every byte")
    func cut() async throws {
        try await UploadFixture.run { up async throws in
            let text = "Hello, resumable World!"
            let url = try await up.create("a", text.utf8.count)
            for (index, character) in text.dropLast().enumerated() {
                let rest = text.utf8.count - index
                let connection = try await begin(up, url, index, String(character), of: rest)
                await connection.reset()
                // A HEAD ends what may still be at work, and says how far it came.
                while try await up.offset(url) != "\(index + 1)" {}
            }
            #expect(try await up.patch(url, text.utf8.count - 1, "!").status == .noContent)
            #expect(up.text("a") == text)
        }
    }

    @Test("A request for an upload ends the one that works on it, and goes on behind what came")
    func takeover() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 10)
            // Its connection stays open, and sends nothing more: nobody could know that it is dead.
            let dead = try await begin(up, url, 0, "Hello", of: 10)
            var offset = try await up.offset(url)
            while offset == "0" {
                let again = try await begin(up, url, 0, "Hello", of: 10)
                offset = try await up.offset(url)
                await again.reset()
            }
            #expect(offset == "5")
            #expect(try await up.patch(url, 5, "World").status == .noContent)
            #expect(up.text("a") == "HelloWorld")
            await dead.reset()
        }
    }

    @Test("Small pieces of one request are kept in their order")
    func smallPieces() async throws {
        try await UploadFixture.run { up async throws in
            let pieces = ["Hel", "lo", ", ", "wor", "ld"]
            let url = try await up.create("a", pieces.joined().utf8.count)
            let connection = try await begin(up, url, 0, "", of: pieces.joined().utf8.count)
            for piece in pieces { try await connection.write(Array(piece.utf8)) }
            #expect(try await connection.response().status == .noContent)
            #expect(up.text("a") == pieces.joined())
        }
    }

    @Test("Bytes with a checksum are kept when they are right, and all dropped when not")
    func checksum() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 22)
            let sha256 = "sha256 uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="
            let md5 = "md5 XrY7u+Ae7tCTyyK7j1rNww=="
            let headers: (String) -> HTTPFields = { [UploadProtocol.checksum: $0] }
            let wrong = try await up.patch(url, 0, "hello_world", headers(Self.digest))
            #expect(wrong.status.code == 460 && wrong.headers[UploadProtocol.resumable] == "1.0.0")
            #expect(try await up.offset(url) == "0")
            #expect(try await up.patch(url, 0, "hello world", headers(Self.digest)).status == .noContent)
            #expect(try await up.patch(url, 11, "hello WORLD", headers(sha256)).status.code == 460)
            #expect(try await up.patch(url, 11, "hello WORLD", headers(md5)).status.code == 460)
            #expect(try await up.patch(url, 11, "hello world", headers("crc32 AAAA")).status == .badRequest)
            #expect(try await up.patch(url, 11, "hello world", headers(sha256)).status == .noContent)
            #expect(up.text("a") == "hello worldhello world")
        }
    }

    @Test("What came with a checksum and was cut off is dropped: nobody can check it")
    func cutWithChecksum() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 13)
            _ = try await up.patch(url, 0, "ab")
            let connection = try await begin(up, url, 2, "hello", of: 11, [UploadProtocol.checksum: Self.digest])
            await connection.reset()
            #expect(try await up.offset(url) == "2")
            #expect(
                try await up.patch(url, 2, "hello world", [UploadProtocol.checksum: Self.digest]).status == .noContent
            )
            #expect(up.text("a") == "abhello world")
        }
    }

    @Test("A checksum may come behind the bytes")
    func trailer() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 11)
            for (trailers, status) in [
                ([UploadProtocol.checksum: "sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA="], 460), ([:], 400),
                ([UploadProtocol.checksum: Self.digest], 204),
            ] as [(HTTPFields, Int)] {
                let connection = await up.client.connect()
                try await connection.begin(
                    .patch,
                    url,
                    headers: [
                        UploadProtocol.resumable: "1.0.0", .contentType: UploadProtocol.contentType,
                        UploadProtocol.offset: "0", .trailer: "Upload-Checksum",
                    ]
                )
                try await connection.write(Array("hello world".utf8))
                try await connection.finish(trailers: trailers)
                #expect(try await connection.response().status.code == status)
                await connection.close()
            }
            #expect(up.text("a") == "hello world")
        }
    }

    @Test("More than was said is refused, and nothing of it is kept")
    func tooMuch() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 5)
            _ = try await up.patch(url, 0, "He")
            let connection = await up.client.connect()
            try await connection.begin(
                .patch,
                url,
                headers: [
                    UploadProtocol.resumable: "1.0.0", .contentType: UploadProtocol.contentType,
                    UploadProtocol.offset: "2",
                ]
            )
            try await connection.write(Array("llo, World".utf8))
            try await connection.finish()
            #expect(try await connection.response().status == .contentTooLarge)
            #expect(try await up.offset(url) == "2")
            await connection.close()
        }
    }

    @Test("The length may be said later, once")
    func deferredLength() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", nil)
            #expect(try await up.request(.head, url).headers[UploadProtocol.deferred] == "1")
            #expect(try await up.patch(url, 0, "Hello").status == .noContent)
            #expect(try await up.patch(url, 5, "!", [UploadProtocol.length: "3"]).status == .badRequest)
            #expect(try await up.patch(url, 5, "!", [UploadProtocol.length: "7"]).status == .noContent)
            #expect(try await up.request(.head, url).headers[UploadProtocol.length] == "7")
            #expect(try await up.patch(url, 6, "!", [UploadProtocol.length: "8"]).status == .badRequest)
            #expect(try await up.patch(url, 6, "?").status == .noContent)
            #expect(up.text("a") == "Hello!?")
        }
    }

    // MARK: Creation with upload, concatenation, names

    @Test("The first bytes, or all, may come with the creation")
    func creationWithUpload() async throws {
        try await UploadFixture.run { up async throws in
            var headers: HTTPFields = [
                UploadProtocol.length: "5", .contentType: UploadProtocol.contentType,
                UploadProtocol.metadata: UploadFixture.metadata(["name": "a"]),
            ]
            let whole = try await up.request(.post, "/up", headers, body: Array("Hello".utf8))
            #expect(whole.status == .created && whole.headers[UploadProtocol.offset] == "5")
            #expect(whole.headers[UploadProtocol.path] == "a" && up.text("a") == "Hello")
            headers[UploadProtocol.metadata] = UploadFixture.metadata(["name": "b"])
            let part = try await up.request(.post, "/up/", headers, body: Array("He".utf8))
            let url = try #require(part.headers[.location])
            #expect(part.headers[UploadProtocol.offset] == "2" && part.headers[UploadProtocol.path] == nil)
            #expect(try await up.patch(url, 2, "llo").headers[UploadProtocol.path] == "b")
            // Nothing is whole from the beginning.
            #expect(try await up.create("empty", 0).hasPrefix("/up/"))
            #expect(up.text("empty")?.isEmpty == true)
        }
    }

    @Test("Parts that came side by side become one file, and are gone then")
    func concatenation() async throws {
        try await UploadFixture.run { up async throws in
            let partial: HTTPFields = [UploadProtocol.concatenation: "partial"]
            let first = try await up.create("ignored", 5, partial)
            let second = try await up.create("ignored", 6, partial)
            _ = try await up.patch(second, 0, " world")
            let final: HTTPFields = [
                UploadProtocol.concatenation: "final;\(first) http://localhost\(second)",
                UploadProtocol.metadata: UploadFixture.metadata(["name": "joined"]),
            ]
            #expect(try await up.request(.post, "/up", final).status == .conflict)
            _ = try await up.patch(first, 0, "hello")
            #expect(try await up.request(.head, first).headers[UploadProtocol.concatenation] == "partial")
            #expect(up.text("ignored") == nil)
            let response = try await up.request(.post, "/up", final)
            #expect(response.status == .created && response.headers[UploadProtocol.path] == "joined")
            #expect(up.text("joined") == "hello world")
            let url = try #require(response.headers[.location])
            let head = try await up.request(.head, url)
            #expect(head.headers[UploadProtocol.length] == "11" && head.headers[UploadProtocol.offset] == "11")
            #expect(head.headers[UploadProtocol.concatenation] == final[UploadProtocol.concatenation])
            #expect(try await up.patch(url, 11, "").status == .forbidden)
            #expect(try await up.request(.head, first).status == .notFound)
            #expect(try up.leftovers().count == 1)
        }
    }

    @Test("A part can be named once")
    func partNamedTwice() async throws {
        try await UploadFixture.run { up async throws in
            let part = try await up.create("ignored", 3, [UploadProtocol.concatenation: "partial"])
            _ = try await up.patch(part, 0, "abc")
            let final: HTTPFields = [
                UploadProtocol.concatenation: "final;\(part) \(part)",
                UploadProtocol.metadata: UploadFixture.metadata(["name": "joined"]),
            ]
            #expect(try await up.request(.post, "/up", final).status == .badRequest)
            #expect(up.text("joined") == nil)
            #expect(try await up.offset(part) == "3")
        }
    }

    @Test("Of content that can't get its name nothing is kept, since its client doesn't know where it would be")
    func nameless() async throws {
        try await UploadFixture.run { up async throws in
            try Data("text".utf8).write(to: URL(fileURLWithPath: up.root + "a.txt"))
            try FileManager.default.createDirectory(atPath: up.root + "folder", withIntermediateDirectories: false)
            func post(_ name: String, _ headers: HTTPFields, _ body: String) async throws -> Int {
                var headers = headers
                headers[UploadProtocol.metadata] = UploadFixture.metadata(["name": name, "clash": "replace"])
                return try await up.request(.post, "/up", headers, body: Array(body.utf8)).status.code
            }
            let content: HTTPFields = [UploadProtocol.length: "3", .contentType: UploadProtocol.contentType]
            #expect(try await post("a.txt/x", content, "new") == 409)
            #expect(try await post("a.txt/x/y", [UploadProtocol.length: "3"], "") == 409)
            #expect(try await post("folder", content, "new") >= 400)
            #expect(try up.leftovers().isEmpty)
            let part = try await up.create("ignored", 3, [UploadProtocol.concatenation: "partial"])
            _ = try await up.patch(part, 0, "abc")
            #expect(try await post("folder", [UploadProtocol.concatenation: "final;\(part)"], "") >= 400)
            #expect(try await up.offset(part) == "3")
            #expect(try up.leftovers().count <= 2)
        }
    }

    @Test("Where a file has the name already it is refused at once, replaced, or gets a number")
    func clashes() async throws {
        try await UploadFixture.run { up async throws in
            try Data("old".utf8).write(to: URL(fileURLWithPath: up.root + "a.txt"))
            for (conflict, status, path) in [
                ("refuse", 409, nil), ("number", 201, "a%20(1).txt"), ("replace", 201, "a.txt"),
            ] as [(String, Int, String?)] {
                let response = try await up.request(
                    .post,
                    "/up",
                    [
                        UploadProtocol.length: "3", .contentType: UploadProtocol.contentType,
                        UploadProtocol.metadata: UploadFixture.metadata(["name": "a.txt", "clash": conflict]),
                    ],
                    body: Array("new".utf8)
                )
                #expect(response.status.code == status)
                let said = response.headers[UploadProtocol.path]
                #expect(said?.removingPercentEncoding == path?.removingPercentEncoding)
            }
            #expect(up.text("a.txt") == "new" && up.text("a (1).txt") == "new")
        }
    }

    @Test("One whose name was taken meanwhile stays, and gets it when it is free")
    func takenName() async throws {
        try await UploadFixture.run { up async throws in
            let url = try await up.create("a", 3)
            try Data("old".utf8).write(to: URL(fileURLWithPath: up.root + "a"))
            #expect(try await up.patch(url, 0, "new").status == .conflict)
            #expect(try await up.request(.head, url).status == .conflict && up.text("a") == "old")
            try FileManager.default.removeItem(atPath: up.root + "a")
            #expect(try await up.request(.head, url).headers[UploadProtocol.path] == "a")
            #expect(up.text("a") == "new")
        }
    }

    @Test("What there is no room for isn't begun")
    func quota() async throws {
        var options = FolderOptions()
        options.quota = ByteCount(100_000)
        options.fileSize = ByteCount(90_000)
        try await UploadFixture.run(folder: options) { up async throws in
            for (length, status) in [(90_001, 413), (90_000, 201)] {
                let headers: HTTPFields = [
                    UploadProtocol.length: "\(length)",
                    UploadProtocol.metadata: UploadFixture.metadata(["name": "a\(length)"]),
                ]
                #expect(try await up.request(.post, "/up", headers).status.code == status)
            }
            // Both were begun while there was room for each; what is kept of the second is what there is room for.
            let text = String(repeating: "x", count: 60_000)
            let (first, second) = (try await up.create("b", 60_000), try await up.create("c", 60_000))
            #expect(try await up.patch(first, 0, text).status == .noContent)
            #expect(try await up.patch(second, 0, text).status.code == 507)
            #expect(try await up.offset(second) == "0" && up.text("b") == text)
            #expect(try await up.request(.delete, first).status == .noContent && up.text("b") == text)
        }
    }
}
