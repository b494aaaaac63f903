// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Requests without TLS at a port that has it")
struct PlainRequestTests {
    /// The verdict on input as it grows byte by byte, and after how many bytes it comes.
    private static func verdict(_ input: [UInt8]) -> (PlainRequest.Start, Int) {
        for count in 0...input.count {
            let start = PlainRequest.start(Array(input.prefix(count)).span.raw)
            if start != .undecided { return (start, count) }
        }
        return (.undecided, input.count)
    }

    @Test(
        "A method and the beginning of a target are a request, in every split",
        arguments: [
            ("GET / HTTP/1.1", 5), ("POST /a", 6), ("HEAD /", 6), ("PROPFIND /dav", 10), ("VERSION-CONTROL /", 17),
            ("OPTIONS * HTTP/1.1", 9), ("CONNECT a:443", 9), ("GET http://a/", 11), ("GET HTTPS://a/", 12), ("M /", 3),
        ]
    )
    func requests(text: String, count: Int) {
        let input = Array(text.utf8)
        let request = PlainRequest.Start.request(isHead: text.hasPrefix("HEAD "))
        #expect(Self.verdict(input) == (request, count))
        // The verdict stays, however much has come.
        for end in count...input.count { #expect(PlainRequest.start(Array(input.prefix(end)).span.raw) == request) }
    }

    @Test(
        "TLS and other protocols are something else",
        arguments: [
            ("\u{16}\u{3}\u{1}", 1), ("\u{0}", 1), ("get / HTTP/1.1", 1), ("SSH-2.0-OpenSSH", 5),
            ("EHLO example.com", 6),
            ("EHLO host.example", 7), ("HELO http.example", 10), ("HELO https:x", 12), ("PRI * HTTP/2.0", 4),
            ("GET\r\n", 4), (" GET /", 1),
            ("GET  /", 5),
            ("GET * HTTP/1.1", 5), ("ABCDEFGHIJKLMNOPQRSTUVWXYZ /", 25), ("\r\nGET /", 1),
        ]
    )
    func others(text: String, count: Int) {
        #expect(Self.verdict(Array(text.utf8)) == (.other, count))
    }

    @Test("It is decided within the bound", arguments: ["A", "ABCDEFGHIJKLMNOPQRSTUVWX http", "GET http", "------"])
    func bounded(text: String) {
        for filler in ["A", "h", "/", " ", "\u{16}", "-"] {
            let input = Array((text + String(repeating: filler, count: PlainRequest.bound)).utf8)
            let (start, count) = Self.verdict(input)
            #expect(start != .undecided && count <= PlainRequest.bound)
        }
    }

    @Test("The answer says what to do, and the connection ends behind it", arguments: [true, false])
    func answer(isHead: Bool) throws {
        let bytes = PlainRequest.answer(isHead: isHead, now: UnixTime(seconds: 784_111_777))
        var parser = ResponseHeadParser()
        var position = 0
        let head = try #require(try parser.parse(bytes.span, from: &position))
        #expect(head.status == .badRequest && head.headers[.connection] == "close")
        #expect(head.headers[.date] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(head.headers[.contentType] == "text/plain; charset=utf-8")
        let body = bytes.dropFirst(position)
        #expect(body.isEmpty == isHead)
        let length = try #require(head.headers[.contentLength].flatMap { Int($0) })
        #expect(isHead ? length > 0 : length == body.count)
    }
}
