// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("The codings of a content")
struct ContentCodingTests {
    private static func codings(_ values: String...) throws(HTTPError) -> [ContentCoding] {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .contentEncoding, value: value)) }
        return try ContentCoding.applied(in: fields)
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
        let error = #expect(throws: HTTPError.self) { try Self.codings(value) }
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
