// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("Files of a form, for the uploader", .timeLimit(minutes: 1))
struct UploaderFormsTests {
    /// A text of the form, or a file.
    private struct Part {
        var name: String
        var filename: String?
        var text: String

        static func field(_ name: String, _ text: String) -> Part { Part(name: name, filename: nil, text: text) }

        static func file(_ filename: String, _ text: String) -> Part {
            Part(name: "file", filename: filename, text: text)
        }
    }

    private static func body(_ parts: [Part]) -> String {
        parts.map { part in
            let filename = part.filename.map { "; filename=\"\($0)\"" } ?? ""
            return "--b\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(filename)\r\n\r\n\(part.text)\r\n"
        }.joined() + "--b--\r\n"
    }

    private static let form: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]

    private static func upload(_ uploader: UploaderFixture, _ parts: Part...) async throws -> TestResponse {
        try await uploader.request(.post, "upload", form, body(parts))
    }

    private static func code(_ uploader: UploaderFixture, _ parts: Part...) async throws -> Int {
        try await uploader.request(.post, "upload", form, body(parts)).status.code
    }

    @Test("Files go where the fields in front of them say")
    func upload() async throws {
        try await UploaderFixture.run(["a/": ""]) { uploader async throws in
            let response = try await Self.upload(
                uploader,
                .file("top ü.txt", "1"),
                .field("other", "x"),
                .field("path", "a"),
                .file("b", ""),
                .file("C:\\x\\c.txt", "3")
            )
            let changed = #"{"changed":[{"path":"top ü.txt","replaced":false},{"path":"a/b","replaced":false},"#
            #expect(response.text == changed + #"{"path":"a/c.txt","replaced":false}]}"# + "\n")
            #expect(uploader.text("top ü.txt") == "1" && uploader.text("a/b") == "" && uploader.text("a/c.txt") == "3")
        }
    }

    @Test("A name that is taken is refused, replaced or numbered")
    func clashes() async throws {
        try await UploaderFixture.run(["a.txt": "old"]) { uploader async throws in
            let file = Part.file("a.txt", "new")
            #expect(try await Self.code(uploader, file) == 409)
            #expect(uploader.text("a.txt") == "old")
            #expect(try await Self.upload(uploader, .field("clash", "number"), file).text.contains("a (1).txt"))
            #expect(try await Self.upload(uploader, .field("clash", "replace"), file).text.contains("true"))
            #expect(uploader.text("a.txt") == "new" && uploader.text("a (1).txt") == "new")
            #expect(try await Self.code(uploader, .field("clash", "other"), file) == 400)
        }
    }

    @Test("What isn't whole isn't there")
    func cut() async throws {
        try await UploaderFixture.run { uploader async throws in
            let body = Self.body([.file("a", "1"), .file("b", "23456")]).dropLast(12)
            #expect(try await uploader.request(.post, "upload", Self.form, String(body)).status.code == 400)
            #expect(try uploader.names == ["a"])
        }
    }

    @Test("Names that lead elsewhere, and forms without a file, are refused")
    func refused() async throws {
        var options = FolderOptions()
        options.fileSize = ByteCount(4)
        try await UploaderFixture.run(folder: options) { uploader async throws in
            #expect(try await Self.code(uploader, .field("path", "../x"), .file("a", "1")) == 403)
            #expect(try await Self.code(uploader, .field("path", "none"), .file("a", "1")) == 409)
            #expect(try await Self.code(uploader, .file("..", "1")) == 403)
            #expect(try await Self.code(uploader, .file(".duplex", "1")) == 403)
            #expect(try await Self.code(uploader, .file(".x", "1")) == 404)
            #expect(try await Self.code(uploader, .file("a", "12345")) == 413)
            #expect(try await Self.code(uploader, .file("", "")) == 400)
            #expect(try await Self.code(uploader, .field("path", "")) == 400)
            #expect(try await uploader.code("upload", "{}") == 415)
            // A path that leads up is only a name.
            #expect(try await Self.upload(uploader, .file("../../up", "1")).text.contains("\"up\""))
            #expect(try uploader.names == ["up"])
        }
    }

    @Test("Who may only read, and pages of other sites, upload nothing")
    func strangers() async throws {
        try await UploaderFixture.run(folder: UploaderFixture.roles) { uploader async throws in
            #expect(try await Self.code(uploader.with("reader"), .file("a", "1")) == 403)
            let headers: HTTPFields = [
                .contentType: "multipart/form-data; boundary=b", .origin: "https://other.example",
            ]
            let body = Self.body([.file("a", "1")])
            let response = try await uploader.with("writer").request(.post, "upload", headers, body)
            #expect(response.status == .forbidden)
            #expect(try uploader.names == [])
        }
    }
}
