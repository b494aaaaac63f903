// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("The codings of a content")
struct ContentCodingTests {
    private static func codings(_ values: String...) throws(HTTPProtocolError) -> [ContentCoding] {
        var headers = HTTPFields()
        for value in values { headers.append(HTTPField(name: .contentEncoding, value: value)) }
        return try ContentCoding.applied(in: headers)
    }

    @Test("They are read in their order, whatever their case, from all fields; identity is none")
    func reads() throws {
        #expect(try Self.codings() == [])
        #expect(try Self.codings("gzip") == [.gzip])
        #expect(try Self.codings("X-GZip") == [.gzip])
        #expect(try Self.codings(" deflate ,, gzip,") == [.deflate, .gzip])
        #expect(try Self.codings("gzip", "deflate") == [.gzip, .deflate])
        #expect(try Self.codings("identity, gzip, Identity") == [.gzip])
        #expect(try Self.codings("") == [])
    }

    @Test(
        "Others are refused with 415, and so are more than two, and what is no list",
        arguments: ["br", "gzip, br", "gzip gzip", "gzip;q=1", "gzip, gzip, gzip", "\"gzip\"", "zip\u{7}"]
    )
    func refuses(value: String) throws {
        let error = #expect(throws: HTTPProtocolError.self) { try Self.codings(value) }
        #expect(error?.status == .unsupportedMediaType)
        #expect(error?.message.contains("\u{7}") == false)
    }

    @Test("A head notes that there is one, however it came")
    func noted() throws {
        for (field, isNoted) in [("content-Encoding", true), ("X-Requested-With", false), ("Accept-Encoding", false)] {
            let bytes = Array("POST / HTTP/1.1\r\nHost: a\r\n\(field): gzip\r\n\r\n".utf8)
            for pieces in [[bytes], [Array(bytes.prefix(20)), Array(bytes.dropFirst(20))]] {
                var parser = RequestHeadParser()
                var head: RequestHead?
                for piece in pieces {
                    var position = 0
                    head = try parser.parse(piece.span, from: &position)
                }
                #expect(head?.hasContentCoding == isNoted)
            }
        }
    }

    @Test("What is told of them is a list")
    func accepted() {
        #expect(ContentCoding.accepted == "gzip, deflate")
    }
}

@Suite("Which responses are compressed")
struct ResponseCompressionTests {
    private static func verdict(
        _ accepts: String? = "gzip",
        status: HTTPResponse.Status = .ok,
        type: MediaType? = .html,
        headers: HTTPFields = [:],
        length: Int? = 5_000,
        by compression: ResponseCompression = .standard
    ) -> ResponseCompression.Verdict {
        var request = HTTPFields()
        request[.acceptEncoding] = accepts
        return compression.verdict(
            status: status,
            type: type,
            headers: headers,
            length: length,
            accepting: CodingPreferences(request)
        )
    }

    @Test(
        "gzip is what a client gets that takes it, and deflate one that doesn't",
        arguments: [
            ("gzip", ResponseCompression.Verdict.coded(.gzip)), ("deflate, gzip", .coded(.gzip)),
            ("deflate, gzip;q=0.5", .coded(.gzip)), ("gzip;q=0, deflate", .coded(.deflate)),
            ("br, deflate", .coded(.deflate)), ("*", .coded(.gzip)), ("gzip;q=0, *", .coded(.deflate)),
            ("x-gzip", .coded(.gzip)), ("GZIP;q=0.001", .coded(.gzip)), ("gzip;q=0.5, identity", .plain),
            ("br", .plain), ("", .plain), ("identity", .plain), ("gzip;q=0", .plain), ("*;q=0", .plain),
        ]
    )
    func codings(accepts: String, verdict: ResponseCompression.Verdict) {
        #expect(Self.verdict(accepts) == verdict)
    }

    @Test("A client that says nothing gets it plain, and is told that others don't")
    func silent() {
        #expect(Self.verdict(nil) == .plain)
    }

    @Test("Short bodies stay as they are; of unknown length are those that may be long")
    func lengths() {
        #expect(Self.verdict(length: 1_023) == .same)
        #expect(Self.verdict(length: 1_024) == .coded(.gzip))
        #expect(Self.verdict(length: nil) == .coded(.gzip))
        #expect(Self.verdict(length: 0, by: ResponseCompression(threshold: 0)) == .same)
        #expect(Self.verdict(length: 1, by: ResponseCompression(threshold: 0)) == .coded(.gzip))
        #expect(Self.verdict(by: .disabled) == .same)
    }

    @Test(
        "Text is compressed, and what is like it",
        arguments: [
            "text/plain", "TEXT/HTML; charset=utf-8", "application/json", "application/ld+json", "image/svg+xml",
            "application/wasm",
        ]
    )
    func texts(type: String) {
        #expect(Self.verdict(type: MediaType(rawValue: type)) == .coded(.gzip))
    }

    @Test(
        "Nothing else is, and no stream of events",
        arguments: ["image/png", "application/gzip", "text/event-stream", "text", nil]
    )
    func others(type: String?) {
        #expect(Self.verdict(type: type.map(MediaType.init(rawValue:))) == .same)
    }

    @Test(
        "Not parts of contents, and not what has no content",
        arguments: [HTTPResponse.Status.switchingProtocols, .noContent, .resetContent, .partialContent, .notModified]
    )
    func statuses(status: HTTPResponse.Status) {
        #expect(Self.verdict(status: status) == .same)
    }

    @Test("Problems are compressed, too")
    func problems() {
        #expect(Self.verdict(status: .notFound) == .coded(.gzip))
    }

    @Test(
        "What is coded already stays, and what is about its bytes as they are",
        arguments: [
            "Content-Encoding: br", "Content-Range: bytes 0-1/2", "Repr-Digest: sha-256=:YQ==:", "Content-MD5: YQ==",
            "Cache-Control: max-age=1, No-Transform",
        ]
    )
    func headers(line: String) throws {
        let parts = line.split(separator: ":", maxSplits: 1)
        let name = try #require(HTTPField.Name(String(parts[0])))
        #expect(Self.verdict(headers: [name: String(parts[1].dropFirst())]) == .same)
    }

    @Test("Levels that there aren't become the nearest")
    func levels() {
        #expect([-1, 1, 6, 9, 99].map { ResponseCompression(level: $0).level } == [1, 1, 6, 9, 9])
    }
}
