// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct PreparedFieldsTests {
    private static let fields: HTTPFields = [
        .eTag: "\"1\"", .connection: "close", .cacheControl: "a\r\nb: c", .contentLength: "7",
    ]

    @Test("The lines are those of the fields, without what is the session's to write")
    func lines() {
        let prepared = PreparedFields(Self.fields)
        #expect(String(decoding: prepared.lines, as: UTF8.self) == "ETag: \"1\"\r\nCache-Control: a  b: c\r\n")
        #expect(prepared.fields == Self.fields)
        #expect(PreparedFields([:]).lines.isEmpty)
    }

    @Test("A response with them is the one with the fields")
    func sameResponse() throws {
        let start = ResponseStart(.ok, mediaType: "text/plain", date: "now")
        var responses: [[UInt8]] = []
        for prepared in [nil, PreparedFields(Self.fields)] {
            var session = HTTPServerSession(HTTPServerSession.SharedSettings(.init()), now: Instant(nanoseconds: 0))
            let bytes = wire("GET / HTTP/1.1\nHost: a\n\n")
            var position = 0
            _ = session.next(bytes.span, from: &position, now: Instant(nanoseconds: 0))
            var output: [UInt8] = []
            let body = Array("hello".utf8)
            _ = try session.writeResponse(
                start,
                prepared,
                prepared == nil ? Self.fields : [:],
                body: body.span.raw,
                now: Instant(nanoseconds: 0),
                into: &output
            )
            responses.append(output)
        }
        #expect(responses[0] == responses[1] && !responses[0].isEmpty)
    }
}
