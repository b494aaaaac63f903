// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct ResponseStartTests {
    private func text(_ start: ResponseStart, _ headers: HTTPFields = [:]) -> String {
        String(decoding: start.lines(beside: headers), as: UTF8.self)
    }

    @Test("The lines are the status, Date and Content-Type, as far as they are given")
    func lines() {
        #expect(text(ResponseStart(.noContent)) == "HTTP/1.1 204 No Content\r\n")
        #expect(
            text(ResponseStart(.ok, mediaType: "text/plain", date: "now"))
                == "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Type: text/plain\r\n"
        )
    }

    @Test("No value begins a line of its own")
    func lineBreaks() {
        let start = ResponseStart(.ok, mediaType: "a\r\nb: c", date: "d\ne: f")
        #expect(text(start) == "HTTP/1.1 200 OK\r\nDate: d e: f\r\nContent-Type: a  b: c\r\n")
    }

    @Test("A Date among the fields takes the place of the server's")
    func date() {
        let start = ResponseStart(.ok, mediaType: "text/plain", date: "now")
        #expect(text(start, [.date: "then"]) == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n")
        #expect(text(start, [.eTag: "x"]) == text(start))
    }

    @Test("Those of one response aren't those of another")
    func comparing() {
        let start = ResponseStart(.ok, mediaType: "text/plain", date: "now")
        #expect(start.isOf(.ok, "text/plain"))
        #expect(!start.isOf(.ok, "text/html") && !start.isOf(.ok, nil) && !start.isOf(.created, "text/plain"))
        #expect(!start.isOf(HTTPResponse.Status(code: 200, reasonPhrase: "Fine"), "text/plain"))
    }
}

@Suite struct PreparedFieldsTests {
    private static let headers: HTTPFields = [
        .eTag: "\"1\"", .connection: "close", .cacheControl: "a\r\nb: c", .contentLength: "7",
    ]

    @Test("The lines are those of the fields, without what is the session's to write")
    func lines() {
        let prepared = PreparedFields(Self.headers)
        #expect(String(decoding: prepared.lines, as: UTF8.self) == "ETag: \"1\"\r\nCache-Control: a  b: c\r\n")
        #expect(prepared.headers == Self.headers)
        #expect(PreparedFields([:]).lines.isEmpty)
    }

    @Test("A response with them is the one with the fields")
    func sameResponse() throws {
        let start = ResponseStart(.ok, mediaType: "text/plain", date: "now")
        var responses: [[UInt8]] = []
        for prepared in [nil, PreparedFields(Self.headers)] {
            var session = HTTPServerSession(HTTPServerSession.SharedSettings(.init()), now: Instant(nanoseconds: 0))
            let bytes = wire("GET / HTTP/1.1\nHost: a\n\n")
            var position = 0
            _ = session.next(bytes.span, from: &position, now: Instant(nanoseconds: 0))
            var output: [UInt8] = []
            let body = Array("hello".utf8)
            _ = try session.writeResponse(
                start,
                prepared,
                prepared == nil ? Self.headers : [:],
                body: body.span.raw,
                now: Instant(nanoseconds: 0),
                into: &output
            )
            responses.append(output)
        }
        #expect(responses[0] == responses[1] && !responses[0].isEmpty)
    }
}

@Suite struct ResponseFramingTests {
    @Test("The connection's own fields are known in any case of letters, and no others")
    func names() throws {
        for text in ["Content-Length", "transfer-encoding", "CONNECTION", "Keep-Alive", "Proxy-Connection", "TE"] {
            #expect(FramingFields.contains(try #require(HTTPField.Name(text))), "\(text)")
        }
        for text in ["Upgrade", "Content-Type", "Date", "Trailer", "Connection-X"] {
            #expect(!FramingFields.contains(try #require(HTTPField.Name(text))), "\(text)")
        }
    }

    @Test("A length counts when it is one number")
    func lengths() {
        #expect(FramingFields.length(in: [.contentLength: "12"]) == 12)
        #expect(FramingFields.length(in: [.contentLength: "twelve"]) == nil)
        #expect(FramingFields.length(in: [:]) == nil)
    }
}
