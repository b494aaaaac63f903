// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

private enum Heads {
    /// What clients send that the short way reads.
    static let usual = [
        "GET / HTTP/1.1\nHost: a\n\n", "HEAD /x?y HTTP/1.1\nHost: a.b\nConnection: close\n\n",
        "PUT /x HTTP/1.1\nhOST: A\nTransfer-Encoding: Chunked\n\n",
        "PATCH /x HTTP/1.1\nHost: a:1\nExpect: 100-Continue\nContent-Length: 0\n\n",
        "POST /x HTTP/1.1\nHost: a\nContent-Length: 5\nContent-Encoding: gzip\n\n",
        "DELETE /x HTTP/1.1\nHost: a\nConnection: x , Close\n\n",
        "OPTIONS /x HTTP/1.1\nHost: a\nUpgrade: websocket\nConnection: keep-alive, Upgrade\n\n",
        "GET / HTTP/1.1\nHost: a\nRANGE: bytes=0-\nIf-Range: x\nAccept-encoding: gzip\n\n",
        "GET / HTTP/1.1\nHost: a\nif-none-MATCH: *\n\n", "GET / HTTP/1.1\nHost: a\nIf-Match: *\nRanges: x\n\n",
        "GET / HTTP/1.1\nHost: a\nIf-Modified-Since: x\n\n", "GET / HTTP/1.1\nHost: a\nIf-Unmodified-Since: x\n\n",
        "GET /? HTTP/1.1\nHost: 127.0.0.1:8080\nCookie: a=b\nCookie: c=d\nX:\nY:\u{e9}\n\n",
    ]
}

@Suite struct WholeHeadTests {
    private func read(_ text: String, limits: HTTPLimits = .internet) -> (RequestHead?, Int) {
        let (text, position) = readText(text, limits: limits)
        return (text.map { RequestHead(content: RequestHeadContent($0)) }, position)
    }

    private func readText(
        _ text: String,
        limits: HTTPLimits = .internet,
        last: RequestHeadText? = nil
    ) -> (RequestHeadText?, Int) {
        let bytes = wire(text)
        let span = bytes.span
        var position = 0
        let head = WholeHead.read(span.raw, from: &position, bounds: HeadBounds(limits), last: last)
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
        arguments: Heads.usual
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

    /// All that a head says.
    private struct Said: Equatable {
        var head: RequestHead
        var flags: [Bool]
        var path: String
        var query: String?

        init(_ text: RequestHeadText) {
            let head = RequestHead(content: RequestHeadContent(text))
            self.head = head
            flags = [
                head.keepsAlive, head.expectsContinue, head.hasUpgrade, head.hasContentCoding, head.hasConditions,
                head.hasRange, head.hasAcceptedCodings,
            ]
            path = head.path
            query = head.query
        }
    }

    @Test("Behind any other head, one says what it says by itself, and as much is taken", arguments: Heads.usual)
    func behindAnother(last: String) throws {
        let former = try #require(readText(last).0)
        let fields = try #require(last.firstIndex(of: "\n"))
        let sameFields = ["GET /another?one", "POST /"].map { "\($0) HTTP/1.1\(last[fields...])" }
        for text in Heads.usual + sameFields {
            let (alone, length) = readText(text)
            let (found, position) = readText(text + "GET", last: former)
            #expect(try Said(#require(found)) == Said(#require(alone)), "\(text)")
            #expect(position == length)
        }
    }

    @Test("The same head again isn't read anew, and one that isn't whole, or goes on, is another")
    func repeated() throws {
        let text = "GET /a HTTP/1.1\nHost: a\nX: y\n\n"
        let last = try #require(readText(text).0)
        #expect(readText(text, last: last).0 === last)
        for end in text.indices {
            let (head, position) = readText(String(text[..<end]), last: last)
            #expect(head == nil && position == 0, "up to \(end)")
        }
        let longer = try #require(readText("GET /a HTTP/1.1\nHost: a\nX: y\nZ: z\n\n", last: last).0)
        #expect(RequestHeadContent(longer).headers.map(\.value) == ["a", "y", "z"])
    }

    @Test("A first line is no longer than it may be, also in front of the same fields")
    func startLineOfRepeated() throws {
        let last = try #require(readText("GET / HTTP/1.1\nHost: a\n\n").0)
        func text(_ length: Int) -> String {
            "GET /\(String(repeating: "a", count: length - "GET / HTTP/1.1\r\n".utf8.count)) HTTP/1.1\nHost: a\n\n"
        }
        #expect(readText(text(8_192), last: last).0 != nil)
        #expect(readText(text(8_193), last: last).0 == nil)
    }

    @Test("The fields of the last head count towards the length of one with a longer target")
    func boundsOfRepeated() throws {
        let last = try #require(readText("GET / HTTP/1.1\nHost: a\n\n").0)
        let text = "GET /ab HTTP/1.1\nHost: a\n\n"
        var limits = HTTPLimits.internet
        limits.headSize = .bytes(wire(text).count)
        #expect(readText(text, limits: limits, last: last).0 != nil)
        limits.headSize = .bytes(wire(text).count - 1)
        #expect(readText(text, limits: limits, last: last).0 == nil)
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
