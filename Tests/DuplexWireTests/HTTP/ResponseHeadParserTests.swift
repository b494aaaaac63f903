// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("Reading response heads")
struct ResponseHeadParserTests {
    @Test(
        "A status line is read with its reason or without",
        arguments: [
            ("HTTP/1.1 101 Switching Protocols\n\n", 101, "Switching Protocols"), ("HTTP/1.1 200 \n\n", 200, ""),
            ("HTTP/1.0 404\n\n", 404, ""), ("HTTP/1.1 599 a  b\tc\n\n", 599, "a  b\tc"),
        ]
    )
    func reading(text: String, status: Int, reason: String) throws {
        let fed = expectSameInEverySplit(wire(text)) { parse($0) }
        let head = try #require(fed.outputs.first)
        #expect(head.status.code == status)
        #expect(head.status.reasonPhrase == reason)
        #expect(fed.taken == wire(text).count)
    }

    @Test("A reason in any encoding is kept byte by byte")
    func reason() throws {
        let fed = parse([wire("HTTP/1.1 404 ") + [0xE9, 0xFF] + wire("\n\n")])
        #expect(fed.outputs.first?.status.reasonPhrase == "\u{E9}\u{FF}")
    }

    @Test(
        "What isn't a response is refused at the same byte in every split",
        arguments: [
            ("\n", HTTPError.Code.malformedStatusLine), ("HTTP/1.1\n", .malformedStatusLine),
            ("HTTP/1.1 20\n", .malformedStatusLine),
            ("HTTP/1.1 2000 OK\n", .malformedStatusLine), ("HTTP/1.1 099 x\n", .malformedStatusLine),
            ("HTTP/1.1 600 x\n", .malformedStatusLine), ("HTTP/1.1  200 x\n", .malformedStatusLine),
            ("HTTP/1.1 +20 x\n", .malformedStatusLine), ("HTTP/1.1 200\tOK\n", .malformedStatusLine),
            ("ICY 200 OK and more\n", .malformedStatusLine), ("SSH-2.0-OpenSSH_9.6\n", .malformedStatusLine),
            ("\u{15}\u{3}\u{3}", .malformedStatusLine), ("HTTP/2.0 200 OK\n", .unsupportedVersion),
            ("HTTP/1.1 200 OK\n a: b\n", .obsoleteLineFolding), ("HTTP/1.1 200 OK\na : b\n", .invalidFieldName),
            ("HTTP/1.1 200 OK\na: \u{0}\n", .invalidFieldValue), ("HTTP/1.1 200 OK\na: b\rc\n", .bareLineBreak),
        ]
    )
    func refusing(text: String, code: HTTPError.Code) {
        let fed = expectSameInEverySplit(wire(text)) { parse($0) }
        #expect(fed.failure?.code == code)
        #expect(fed.outputs.isEmpty)
    }

    @Test(
        "A folded field is unfolded with a space in the place of each fold (RFC 9112 section 5.2)",
        arguments: [
            ("A: b\n c\n", ["A": "b c"]), ("A: b \n\t  c \n", ["A": "b c"]), ("A:\n b\n", ["A": "b"]),
            ("A: b\n c\n d: e\nF: g\n", ["A": "b c d: e", "F": "g"]), ("A: b\n \n\t\n c\n", ["A": "b c"]),
            ("A: b\n \n", ["A": "b"]), ("A: b\nC:\n \n", ["A": "b", "C": ""]),
            ("A: ä\n ö\n", ["A": "ä ö"]),
        ]
    )
    func folded(fields: String, expected: [String: String]) throws {
        let fed = expectSameInEverySplit(wire("HTTP/1.1 101 Switching Protocols\n\(fields)\n")) { parse($0) }
        let head = try #require(fed.outputs.first)
        let pairs = head.fields.map { ($0.name.rawName, $0.value) }
        #expect(pairs.count == expected.count && Dictionary(pairs) { first, _ in first } == expected)
    }

    @Test("Each line of a folded field counts as a field")
    func boundedFolds() {
        var limits = HTTPLimits.internet
        limits.headFields = 3
        for (lines, isTaken) in [("A: b\n c\n d\n", true), ("A: b\n c\n d\n e\n", false)] {
            let fed = expectSameInEverySplit(wire("HTTP/1.1 200 OK\n\(lines)\n")) { parse($0, limits: limits) }
            #expect((fed.failure?.code == .tooManyFields) == !isTaken && fed.outputs.count == (isTaken ? 1 : 0))
        }
    }

    @Test("Responses in a row are read one after the other")
    func interim() {
        let input = wire("HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nLink: x\n\nHTTP/1.1 200 OK\n\n")
        let fed = expectSameInEverySplit(input) { parse($0) }
        #expect(fed.outputs.map(\.status.code) == [100, 103, 200])
    }

    @Test("A head has begun with its first byte")
    func midHead() throws {
        var parser = ResponseHeadParser()
        var position = 0
        #expect(!parser.isMidHead)
        _ = try parser.parse(Array("H".utf8).span, from: &position)
        #expect(parser.isMidHead)
    }

    private func parse(_ pieces: [[UInt8]], limits: HTTPLimits = .internet) -> Fed<ResponseHead, HTTPError> {
        var parser = ResponseHeadParser(limits: limits)
        return feed(pieces) { (piece, position) throws(HTTPError) in try parser.parse(piece, from: &position) }
    }
}
