// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexServer
import DuplexTesting
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@Suite("Responses that are compressed")
struct CompressedResponseTests {
    private static let text = String(repeating: "All work and no play. ", count: 200)
    private static let gzip: HTTPFields = [.acceptEncoding: "gzip"]

    static func inflated(_ bytes: [UInt8], _ coding: ContentCoding = .gzip, isWhole: Bool = true) throws -> String {
        let inflater = ContentInflater([coding], upTo: .unlimited, pool: ContentPool())
        inflater.take(bytes)
        var output: [UInt8] = []
        while let piece = try inflater.next() { output += piece }
        if isWhole { try inflater.finish() }
        return String(decoding: output, as: UTF8.self)
    }

    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.use(.compressResponses())
        server.get("/text") { _ in Self.text }
        server.get("/async") { request async in Self.text }
        server.get("/short") { _ in "short" }
        server.get("/png") { _ in Response(type: "image/png", body: .text(Self.text)) }
        server.get("/tagged") { _ in
            Response(
                type: .json,
                headers: [.eTag: "\"a\"", .acceptRanges: "bytes", .contentLength: "7", .vary: "Accept"],
                body: .text(Self.text)
            )
        }
        server.get("/weak") { _ in Response(type: .json, headers: [.eTag: "W/\"a\""], body: .text(Self.text)) }
        server.get("/secret", .compressResponses(.disabled)) { _ in Self.text }
        server.get("/large") { _ in Response(type: .plainText, body: .bytes([UInt8](repeating: 0x61, count: 3_000_000)))
        }
        server.get("/writer") { _ in
            Response(type: .csv) { writer in
                await writer.setTrailers([.eTag: "\"behind\""])
                for number in 0..<1_000 { try await writer.write("row \(number)\n") }
            }
        }
        server.get("/promised/:more") { request in
            let more = try request.parameters.require("more", as: Int.self)
            return Response(
                type: .csv,
                body: .writer(length: 5_000) { writer in
                    try await writer.write([UInt8](repeating: 0x61, count: 5_000 + more))
                }
            )
        }
        try await server.test(body)
    }

    @Test("A body at hand is compressed for who takes it, and Vary says so to all", arguments: ["/text", "/async"])
    func atHand(path: String) async throws {
        try await testing { client async throws in
            let coded = try await client.get(path, headers: Self.gzip)
            #expect(coded.headers[.contentEncoding] == "gzip" && coded.headers[.vary] == "Accept-Encoding")
            #expect(coded.headers[.contentLength] == "\(coded.body.count)" && coded.body.count < 200)
            #expect(try Self.inflated(coded.body) == Self.text)
            let plain = try await client.get(path)
            #expect(plain.headers[.contentEncoding] == nil && plain.headers[.vary] == "Accept-Encoding")
            #expect(plain.text == Self.text)
            let deflate = try await client.get(path, headers: [.acceptEncoding: "deflate"])
            #expect(try Self.inflated(deflate.body, .deflate) == Self.text)
        }
    }

    @Test("HEAD has the same fields")
    func head() async throws {
        try await testing { client async throws in
            for path in ["/text", "/writer", "/tagged"] {
                var got = try await client.get(path, headers: Self.gzip).headers
                let asked = try await client.request(.head, path, headers: Self.gzip)
                // The two may be answered in different seconds.
                for name in [HTTPField.Name.transferEncoding, .date] { got[name] = nil }
                var headers = asked.headers
                headers[.date] = nil
                #expect(asked.body.isEmpty && headers == got)
            }
        }
    }

    @Test("What isn't to be compressed is the same for all", arguments: ["/short", "/png", "/secret"])
    func untouched(path: String) async throws {
        try await testing { client async throws in
            let response = try await client.get(path, headers: Self.gzip)
            #expect(response.headers[.contentEncoding] == nil && response.headers[.vary] == nil)
        }
    }

    @Test("A strong tag becomes weak, and answers with 304; ranges and lengths of the plain content aren't told")
    func tags() async throws {
        try await testing { client async throws in
            for path in ["/tagged", "/weak"] {
                let response = try await client.get(path, headers: Self.gzip)
                #expect(response.headers[.eTag] == "W/\"a\"" && response.headers[.acceptRanges] == nil)
                for tag in ["W/\"a\"", "\"a\""] {
                    var headers = Self.gzip
                    headers[.ifNoneMatch] = tag
                    let again = try await client.get(path, headers: headers)
                    #expect(again.status == .notModified && again.headers[.eTag] == "W/\"a\"")
                    #expect(again.headers[.vary] == response.headers[.vary])
                    #expect(again.headers[.contentEncoding] == nil)
                }
            }
            let plain = try await client.get("/tagged")
            #expect(plain.headers[.eTag] == "\"a\"" && plain.headers[.vary] == "Accept, Accept-Encoding")
            let again = try await client.get("/tagged", headers: [.ifNoneMatch: "\"a\""])
            #expect(again.status == .notModified && again.headers[.eTag] == "\"a\"")
        }
    }

    @Test("A large body goes in pieces, so that others on the loop have their turn")
    func large() async throws {
        try await testing { client async throws in
            let response = try await client.get("/large", headers: Self.gzip)
            #expect(response.headers[.contentLength] == nil && response.body.count < 10_000)
            #expect(try Self.inflated(response.body).utf8.count == 3_000_000)
            #expect(try await client.get("/large").body.count == 3_000_000)
        }
    }

    @Test("What is written is compressed, with trailers behind it")
    func writer() async throws {
        try await testing { client async throws in
            let response = try await client.get("/writer", headers: Self.gzip)
            let text = try Self.inflated(response.body)
            #expect(text.hasPrefix("row 0\nrow 1\n") && text.hasSuffix("row 999\n"))
            #expect(response.trailers[.eTag] == "\"behind\"")
        }
    }

    @Test("A writer is held to the length that it has promised, before it is compressed")
    func promised() async throws {
        try await testing { client async throws in
            let response = try await client.get("/promised/0", headers: Self.gzip)
            #expect(try Self.inflated(response.body).utf8.count == 5_000)
            for more in [-1, 1] {
                await #expect(throws: (any Error).self) {
                    _ = try await client.get("/promised/\(more)", headers: Self.gzip)
                }
            }
        }
    }

    @Test("Each piece that is written can be read as soon as it has come")
    func streaming() async throws {
        let (words, say) = AsyncStream<String>.makeStream()
        var server = WebServer(port: 0)
        server.use(.compressResponses())
        server.get("/") { _ in
            Response(type: .plainText) { writer in for await word in words { try await writer.write(word) } }
        }
        try await server.test { client async throws in
            let connection = await client.connect()
            try await connection.send(.get, "/", headers: Self.gzip)
            #expect(try await connection.head().headers[.contentEncoding] == "gzip")
            var bytes: [UInt8] = []
            var expected = ""
            for word in ["one ", "two ", "three"] {
                say.yield(word)
                expected += word
                while try Self.inflated(bytes, isWhole: false) != expected {
                    bytes += try #require(try await connection.piece())
                }
            }
            say.finish()
            while let piece = try await connection.piece() { bytes += piece }
            #expect(try Self.inflated(bytes) == expected)
        }
    }

    @Test("A file is compressed on its way, and left whole where the client doesn't take that")
    func file() async throws {
        let path = NSTemporaryDirectory() + "duplex-file-\(UUID().uuidString)"
        try Data(String(repeating: Self.text, count: 100).utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var server = WebServer(port: 0)
        server.use(.compressResponses())
        server.get("/") { _ in Response(type: .plainText, body: try .file(path)) }
        server.get("/part") { _ in
            Response(.partialContent, type: .plainText, body: try .file(path, offset: 0, count: 2_000))
        }
        try await server.test { client async throws in
            let response = try await client.get("/", headers: Self.gzip)
            #expect(try Self.inflated(response.body) == String(repeating: Self.text, count: 100))
            #expect(try await client.get("/").body.count == Self.text.utf8.count * 100)
            #expect(try await client.get("/part", headers: Self.gzip).body.count == 2_000)
        }
    }
}
