// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

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
        let error = #expect(throws: HTTPError.self) {
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
            let error = #expect(throws: HTTPError.self) { try trailers(text, isResponse: isResponse) }
            #expect(error?.code == .obsoleteLineFolding)
        }
        var limits = HTTPLimits.internet
        limits.headFields = 3
        #expect(throws: HTTPError.self) { try trailers("A:\n b\n c\n d\n", limits: limits, isResponse: true) }
    }

    private func trailers(
        _ text: String,
        limits: HTTPLimits = .internet,
        isResponse: Bool = false
    ) throws -> HTTPFields {
        let fed = expectSameInEverySplit(wire("0\n\(text)\n")) { pieces -> Fed<HTTPFields, HTTPError> in
            guard var decoder = try? BodyDecoder(.chunked, limits: limits, isResponse: isResponse) else { return Fed() }
            return feed(pieces) { (piece, position) throws(HTTPError) in
                guard case .end(let trailers) = try decoder.next(piece, from: &position) else { return nil }
                return trailers
            }
        }
        if let failure = fed.failure { throw failure }
        return try #require(fed.outputs.first)
    }
}
