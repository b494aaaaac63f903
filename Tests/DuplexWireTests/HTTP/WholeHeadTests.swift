// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct WholeHeadTests {
    private func read(_ text: String, limits: HTTPLimits = .internet) -> (RequestHead?, Int) {
        let bytes = wire(text)
        let span = bytes.span
        var position = 0
        let head = WholeHead.read(span.raw, from: &position, bounds: HeadBounds(limits))
        return (head, position)
    }

    @Test("What nearly all clients send is read in one pass, and what follows stays")
    func usual() throws {
        let (head, position) = read(
            "POST /a/b?c=d?e HTTP/1.1\nHost: Example.com:8080\nContent-Length: 5\nX: \t y \n\nhello"
        )
        let found = try #require(head)
        #expect(found.method == .post && found.version == .http11)
        #expect(found.target == "/a/b?c=d?e" && found.path == "/a/b" && found.query == "c=d?e")
        #expect(found.host == "example.com:8080" && found.framing == .length(5))
        #expect(found.headers.map(\.value) == ["Example.com:8080", "5", "y"])
        #expect(
            position == wire("POST /a/b?c=d?e HTTP/1.1\nHost: Example.com:8080\nContent-Length: 5\nX: \t y \n\n").count
        )
        #expect(found.keepsAlive && !found.expectsContinue && !found.hasUpgrade)
    }

    @Test(
        "What it makes of a head is what the longer way makes of it",
        arguments: [
            "GET / HTTP/1.1\nHost: a\n\n", "HEAD /x?y HTTP/1.1\nHost: a.b\nConnection: close\n\n",
            "PUT /x HTTP/1.1\nhOST: A\nTransfer-Encoding: Chunked\n\n",
            "PATCH /x HTTP/1.1\nHost: a:1\nExpect: 100-Continue\nContent-Length: 0\n\n",
            "DELETE /x HTTP/1.1\nHost: a\nConnection: x , Close\n\n",
            "OPTIONS /x HTTP/1.1\nHost: a\nUpgrade: websocket\nConnection: keep-alive, Upgrade\n\n",
            "GET / HTTP/1.1\nHost: a\nRANGE: bytes=0-\nIf-Range: x\nAccept-encoding: gzip\n\n",
            "GET / HTTP/1.1\nHost: a\nif-none-MATCH: *\n\n", "GET / HTTP/1.1\nHost: a\nIf-Match: *\nRanges: x\n\n",
            "GET / HTTP/1.1\nHost: a\nIf-Modified-Since: x\n\n", "GET / HTTP/1.1\nHost: a\nIf-Unmodified-Since: x\n\n",
            "GET /? HTTP/1.1\nHost: 127.0.0.1:8080\nCookie: a=b\nCookie: c=d\nX:\nY:\u{e9}\n\n",
        ]
    )
    func asTheLongerWay(text: String) throws {
        let (head, _) = read(text)
        let found = try #require(head)
        var parser = RequestHeadParser()
        var other: RequestHead?
        for byte in wire(text) {
            var position = 0
            other = try parser.parse([byte].span, from: &position)
        }
        #expect(found == other)
        #expect(found.keepsAlive == other?.keepsAlive && found.expectsContinue == other?.expectsContinue)
        #expect(found.hasConditions == other?.hasConditions && found.hasRange == other?.hasRange)
        #expect(found.hasConditions == text.lowercased().contains("\nif-"))
        #expect(found.hasAcceptedCodings == other?.hasAcceptedCodings)
        #expect(found.hasUpgrade == other?.hasUpgrade && found.query == other?.query && found.path == other?.path)
    }

    @Test(
        "What is unusual, wrong or not whole is left to the longer way, and nothing of it is taken",
        arguments: [
            "", "GET", "GET / HTTP/1.1\nHost: a\n", "GET / HTTP/1.1\nHost: a\nX: y", "\nGET / HTTP/1.1\nHost: a\n\n",
            "BREW / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.0\nHost: a\n\n", "GET http://a/ HTTP/1.1\nHost: a\n\n",
            "GET / HTTP/1.1\n\n", "GET / HTTP/1.1\nHost: a\nHost: a\n\n", "GET / HTTP/1.1\nHost: [::1]\n\n",
            "GET / HTTP/1.1\nHost: a:\n\n", "GET / HTTP/1.1\nHost: a:080\n\n", "GET / HTTP/1.1\nHost: a:80000\n\n",
            "GET / HTTP/1.1\nHost: a\n b: c\n\n", "GET / HTTP/1.1\nHost : a\n\n", "GET / HTTP/1.1\nHost: a\n: b\n\n",
            "GET / HTTP/1.1\nHost: a\nX: \u{1}\n\n", "GET /# HTTP/1.1\nHost: a\n\n", "GET / a HTTP/1.1\nHost: a\n\n",
            "POST / HTTP/1.1\nHost: a\nContent-Length: 5\nContent-Length: 5\n\n",
            "POST / HTTP/1.1\nHost: a\nContent-Length: +5\n\n", "POST / HTTP/1.1\nHost: a\nContent-Length:\n\n",
            "POST / HTTP/1.1\nHost: a\nContent-Length: 1234567890123456\n\n",
            "POST / HTTP/1.1\nHost: a\nTransfer-Encoding: gzip, chunked\n\n",
            "POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\nContent-Length: 5\n\n",
        ]
    )
    func leftAlone(text: String) {
        let (head, position) = read(text)
        #expect(head == nil && position == 0)
    }

    @Test("A head at the bounds is read, and one beyond them is left to the longer way")
    func bounds() {
        let text = "GET / HTTP/1.1\nHost: a\n\n"
        var limits = HTTPLimits.internet
        limits.headSize = .bytes(wire(text).count)
        #expect(read(text, limits: limits).0 != nil)
        limits.headSize = .bytes(wire(text).count - 1)
        #expect(read(text, limits: limits).0 == nil)
        limits.headSize = .kibibytes(16)
        limits.headFields = 0
        #expect(read(text, limits: limits).0 == nil)
    }
}

@Suite struct KnownTextTests {
    @Test(
        "A text of any length is found at any place, up to the last byte of the input, and nowhere else",
        arguments: ["a", "host", "12345678", "123456789", "transfer-encoding", "abcdefghijklmnopqrstuvwx"]
    )
    func places(text: String) {
        let known = KnownText(text)
        for before in 0..<10 {
            let bytes = Array(repeating: UInt8(ascii: "."), count: before) + Array(text.utf8)
            for start in 0...(bytes.count + 1) {
                let isThere = known.isAt(start, of: bytes.span.raw)
                #expect(isThere == (start == before), "\(start) of \(before)")
            }
        }
    }

    @Test("A text in lower case is found in either case, and no other byte passes for one of its own")
    func cases() {
        let known = KnownText("host-1")
        let base = Array("HoSt-1".utf8)
        let isFound = known.isAnyCaseAt(0, of: base.span.raw)
        #expect(isFound)
        for index in base.indices {
            for byte in UInt8(0x20)...0xFF {
                var bytes = base
                bytes[index] = byte
                let isFound = known.isAnyCaseAt(0, of: bytes.span.raw)
                let lower = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
                #expect(isFound == (lower == Array("host-1".utf8)[index]), "\(byte) at \(index)")
            }
        }
    }
}
