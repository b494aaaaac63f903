// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("The chunked coding")
struct ChunkedDecoderTests {
    @Test(
        "Chunks are joined, extensions and trailers dropped, and what follows is left",
        arguments: [
            ("0\n\n", ""), ("5\nhello\n0\n\n", "hello"), ("1\na\n2\nbc\n00\n\n", "abc"),
            ("a\n0123456789\n0\n\n", "0123456789"),
            ("A\n0123456789\n0\n\n", "0123456789"), ("3;x=y;z=\"1\"\nabc\n0;last\n\n", "abc"),
            ("3\nabc\n0\nTrailer: x\nOther: y\n\n", "abc"), ("4\n\n\n\n0\n\n", "\r\n\r\n"),
            ("000000000000003\nabc\n0\n\n", "abc"), ("3 ;x=y\nabc\n0\n\n", "abc"),
            ("3 \t ; x = y\nabc\n0\t;last\n\n", "abc"),
        ]
    )
    func joining(text: String, body: String) {
        let input = wire(text)
        let decoded = expectSameInEverySplit(input + wire("0\n\n")) { DecodedBody($0, .chunked) }
        #expect(decoded.error == nil)
        #expect(decoded.body == Array(body.utf8))
        #expect(decoded.isComplete)
        #expect(decoded.taken == input.count)
    }

    @Test(
        "What another recipient might read as another body is refused",
        arguments: [
            "\n", "x\n", " 5\nhello\n", "5 \nhello\n", "5\t\nhello\n",
            "5 x;\nhello\n", " ;x\n", "5 5;x\n", "+5\nhello\n", "-5\n", "0x5\nhello\n",
            "5h\nhello\n",
            ";x\n", "5\nhello0\n\n", "5\nhello!\n", "5\nhell\n0\n\n", "5\nhelloX\n0\n\n", "ffffffffffffffff\n",
            "8000000000000000\n", "0000000000000005\nhello\n", "5\u{0}\n", "5;\u{1}\n", "5_0\n",
        ]
    )
    func refusing(text: String) {
        let decoded = expectSameInEverySplit(wire(text)) { DecodedBody($0, .chunked) }
        #expect(decoded.error?.code == .malformedChunk)
        #expect(decoded.error?.status == .badRequest)
    }

    @Test(
        "A line feed or a carriage return alone is refused",
        arguments: ["5\nhello\r\n", "5\r\nhello\n0", "5\rhello", "0\r\n\n"]
    )
    func bareLineBreaks(text: String) {
        let decoded = expectSameInEverySplit(Array(text.utf8)) { DecodedBody($0, .chunked) }
        #expect(decoded.error?.code == .malformedChunk)
        #expect(!decoded.isComplete)
    }

    @Test("Trailers are fields like others", arguments: ["0\n x\n\n", "0\nA : b\n\n", "0\nnone\n\n"])
    func trailers(text: String) {
        let decoded = expectSameInEverySplit(wire(text)) { DecodedBody($0, .chunked) }
        #expect(decoded.error?.status == .badRequest)
    }

    @Test("A body longer than the limit is refused at the size that makes it so, before its data is taken")
    func bodySize() {
        var limits = HTTPLimits.internet
        limits.bodySize = 6
        let fits = expectSameInEverySplit(wire("3\nabc\n3\ndef\n0\n\n")) { DecodedBody($0, .chunked, limits: limits) }
        #expect(fits.body == Array("abcdef".utf8))
        let decoded = expectSameInEverySplit(wire("2\nab\n2\ncd\n3\nefg\n")) {
            DecodedBody($0, .chunked, limits: limits)
        }
        #expect(decoded.error?.status == .contentTooLarge)
        #expect(decoded.body == Array("abcd".utf8))
        #expect(decoded.taken == wire("2\nab\n2\ncd\n3\n").count)
    }

    @Test("A size line is bounded")
    func sizeLine() {
        let decoded = expectSameInEverySplit(wire("1;" + String(repeating: "x", count: 2_000))) {
            DecodedBody($0, .chunked)
        }
        #expect(decoded.error?.code == .malformedChunk)
        #expect(decoded.taken == 1_025)
    }

    @Test("Extensions are bounded in their sum, so that tiny chunks can't carry them forever")
    func extensions() {
        let chunk = "1;" + String(repeating: "x", count: 999) + "\na\n"
        let decoded = DecodedBody([wire(String(repeating: chunk, count: 17))], .chunked)
        #expect(decoded.error?.code == .headTooLarge)
        #expect(decoded.body.count == 16)
    }

    @Test("White space before an extension counts like the extension")
    func whiteSpace() {
        let chunk = "1" + String(repeating: " ", count: 999) + ";\na\n"
        let decoded = DecodedBody([wire(String(repeating: chunk, count: 17))], .chunked)
        #expect(decoded.error?.code == .headTooLarge)
        #expect(decoded.body.count == 16)
    }

    @Test("Trailers are bounded in their sum and their number")
    func trailerBounds() {
        let long = "0\n" + String(repeating: "A: " + String(repeating: "x", count: 1_000) + "\n", count: 17)
        #expect(DecodedBody([wire(long)], .chunked).error?.status.code == 431)
        let endless = expectSameInEverySplit(wire("0\nA: " + String(repeating: "x", count: 17_000))) {
            DecodedBody($0, .chunked)
        }
        #expect(endless.error?.code == .headTooLarge)
        let many = "0\n" + String(repeating: "A:\n", count: 101)
        #expect(expectSameInEverySplit(wire(many)) { DecodedBody($0, .chunked) }.error?.code == .tooManyFields)
    }
}

@Suite("Trailers")
struct TrailerSectionTests {
    @Test("Fields behind the last chunk come with the body's end, in order")
    func kept() throws {
        let trailers = try trailers("Digest: abc\nServer-Timing: db;dur=1\nX: 1\nX: 2\n")
        #expect(trailers.map(\.name.rawName) == ["Digest", "Server-Timing", "X", "X"])
        #expect(trailers.map(\.value) == ["abc", "db;dur=1", "1", "2"])
    }

    @Test(
        "A field that would change how the message is read comes too late and is dropped",
        arguments: [
            "Content-Length", "content-length", "Transfer-Encoding", "Host", "Trailer", "TE", "Connection", "Upgrade",
            "Expect", "Max-Forwards", "Range", "If-Match", "If-None-Match", "Authorization", "Cookie", "Set-Cookie",
            "Proxy-Authorization", "Content-Type", "Content-Encoding", "Content-Range", "Origin",
            "Sec-WebSocket-Key", "X-Forwarded-For",
        ]
    )
    func dropped(name: String) throws {
        let trailers = try trailers("A: 1\n\(name): 5\nB: 2\n")
        #expect(trailers.map(\.name.rawName) == ["A", "B"])
    }

    @Test("As many trailers as fields of a head are taken, and dropped ones count")
    func bounded() throws {
        var limits = HTTPLimits.internet
        limits.headFields = 3
        #expect(try trailers("A:\nB:\nC:\n", limits: limits).count == 3)
        let error = #expect(throws: HTTPProtocolError.self) {
            try trailers("A:\nHost: a\nHost: a\nB:\n", limits: limits)
        }
        #expect(error?.code == .tooManyFields)
    }

    @Test("Folded trailers of a response are unfolded, in every split, and those of a request are refused")
    func folded() throws {
        let text = "A: 1\n 2\nHost: b\n c\nD: e\n\tf\n"
        let found = try trailers(text, isResponse: true)
        #expect(found.map(\.name.rawName) == ["A", "D"] && found.map(\.value) == ["1 2", "e f"])
        let refused: [(String, Bool)] = [(text, false), (" A: 1\n", true), ("Host: a\n b\n", false)]
        for (text, isResponse) in refused {
            let error = #expect(throws: HTTPProtocolError.self) { try trailers(text, isResponse: isResponse) }
            #expect(error?.code == .obsoleteLineFolding)
        }
        var limits = HTTPLimits.internet
        limits.headFields = 3
        #expect(throws: HTTPProtocolError.self) { try trailers("A:\n b\n c\n d\n", limits: limits, isResponse: true) }
    }

    private func trailers(
        _ text: String,
        limits: HTTPLimits = .internet,
        isResponse: Bool = false
    ) throws -> HTTPFields {
        let fed = expectSameInEverySplit(wire("0\n\(text)\n")) { pieces -> Fed<HTTPFields, HTTPProtocolError> in
            guard var decoder = try? BodyDecoder(.chunked, limits: limits, isResponse: isResponse) else { return Fed() }
            return feed(pieces) { (piece, position) throws(HTTPProtocolError) in
                guard case .end(let trailers) = try decoder.next(piece, from: &position) else { return nil }
                return trailers
            }
        }
        if let failure = fed.failure { throw failure }
        return try #require(fed.outputs.first)
    }
}
