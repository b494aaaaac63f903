// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("Heads of any grammar")
struct HeadParserTests {
    /// A grammar whose first line may be anything, and whose head is how many fields there are.
    enum Counting: HeadGrammar {
        static var skipsEmptyLine: Bool { false }
        static var unfoldsFields: Bool { false }
        static var malformedStartLine: HTTPProtocolError.Code { .malformedStatusLine }

        static func overlongStartLine(_ line: [UInt8]) -> HTTPProtocolError.Code { .uriTooLong }

        static func startLine(_ line: Span<UInt8>) throws(HTTPProtocolError) -> Int { line.count }

        static func head(_ start: Int, _ headers: HTTPFields) throws(HTTPProtocolError) -> Int {
            if headers.count > 2 { throw HTTPProtocolError(.timeout, "three fields") }
            return start * 100 + headers.count
        }
    }

    @Test("A head is what its grammar makes of the first line and the fields")
    func grammar() {
        let fed = expectSameInEverySplit(wire("\n\nabc\nA: b\n\n\nA: b\nC: d\n\n")) { parse($0) }
        #expect(fed.outputs == [0, 301, 2])
    }

    @Test("An error of the grammar comes with the empty line")
    func grammarErrors() {
        let input = wire("abc\nA:\nB:\nC:\n\n")
        let fed = expectSameInEverySplit(input) { parse($0) }
        #expect(fed.failure?.code == .timeout)
        #expect(fed.taken == input.count)
    }

    @Test("Each head has the whole limit to itself")
    func limits() {
        var limits = HTTPLimits.internet
        limits.headSize = 12
        let fed = expectSameInEverySplit(wire("abc\nA: b\n\nabc\nA: b\n\n")) { parse($0, limits: limits) }
        #expect(fed.outputs.isEmpty)
        limits.headSize = 13
        #expect(
            expectSameInEverySplit(wire("abc\nA: b\n\nabc\nA: b\n\n")) { parse($0, limits: limits) }.outputs == [
                301, 301,
            ]
        )
    }

    private func parse(_ pieces: [[UInt8]], limits: HTTPLimits = .internet) -> Fed<Int, HTTPProtocolError> {
        var parser = HeadParser<Counting>(limits: limits)
        return feed(pieces) { (piece, position) throws(HTTPProtocolError) in try parser.parse(piece, from: &position) }
    }
}

@Suite("Reading request heads")
struct RequestHeadParserTests {
    @Test("A head is read the same in every split, and what follows it is left")
    func reading() throws {
        let input = wire("GET /chat?x=1 HTTP/1.1\nHost: Example.com:80\nX-Empty:\nX-List: a, b \n\n")
        let fed = expectSameInEverySplit(input) { parse($0) }
        let head = try #require(fed.outputs.first)
        #expect(fed.outputs.count == 1)
        #expect(fed.taken == input.count)
        #expect(head.method == .get)
        #expect(head.path == "/chat")
        #expect(head.query == "x=1")
        #expect(head.version == .http11)
        #expect(head.host == "example.com:80")
        #expect(head.framing == .none)
        #expect(head.headers.map(\.name.rawName) == ["Host", "X-Empty", "X-List"])
        #expect(head.headers.map(\.value) == ["Example.com:80", "", "a, b"])
    }

    @Test("Bytes behind the head stay untouched", arguments: ["\u{81}\u{0}\u{1}", "\r\n", "GET", "body"])
    func following(rest: String) throws {
        let head = wire("POST / HTTP/1.1\nHost: a\nContent-Length: 4\n\n")
        let input = head + Array(rest.utf8)
        var parser = RequestHeadParser()
        var position = 0
        #expect(try parser.parse(input.span, from: &position)?.framing == .length(4))
        #expect(position == head.count)
    }

    @Test("The same request again and again is read the same in every split, with others in between")
    func repeated() {
        let first = "GET /1 HTTP/1.1\nHost: a\nX: y\n\n"
        let others = ["PUT /2 HTTP/1.1\nHost: a\nX: y\n\n", "GET /3 HTTP/1.1\nHost: a\nX: z\n\n"]
        let input = wire((["\(first)\(first)"] + others + [first]).joined())
        let fed = expectSameInEverySplit(input) { pieces in
            var parser = RequestHeadParser()
            var last: RequestHeadText?
            return feed(pieces) { (piece, position) throws(HTTPProtocolError) in
                let head = try parser.parse(piece, from: &position, last: last)
                if let head { last = head.text }
                return head
            }
        }
        #expect(fed.outputs.map(\.path) == ["/1", "/1", "/2", "/3", "/1"])
        #expect(fed.outputs.map { $0.headers.last?.value } == ["y", "y", "y", "z", "y"])
        #expect(fed.failure == nil)
    }

    @Test("What is noted with a request isn't there with the same request after it")
    func attachments() throws {
        let input = wire("GET / HTTP/1.1\nHost: a\n\n")
        var parser = RequestHeadParser()
        var position = 0
        let first = try parser.parse(input.span, from: &position, last: nil)
        let head = try #require(first)
        position = 0
        let second = try parser.parse(input.span, from: &position, last: head.text)
        let other = try #require(second)
        let id = ObjectIdentifier(RequestHeadParser.self)
        head[attachment: id] = "noted"
        #expect(head == other && head.text === other.text && other[attachment: id] == nil)
    }

    @Test("Requests in a row are read one after the other, with an empty line before each")
    func pipelined() {
        let input = wire("GET /1 HTTP/1.1\nHost: a\n\nGET /2 HTTP/1.0\n\n\nPUT /3 HTTP/1.1\nHost: a\n\n")
        let fed = expectSameInEverySplit(input) { parse($0) }
        #expect(fed.outputs.map(\.path) == ["/1", "/2", "/3"])
        #expect(fed.failure == nil)
    }

    @Test(
        "A head that can be read in two ways is refused with its status, at the same byte in every split",
        arguments: [
            // The request line (RFC 9112 section 3).
            ("GET /\n", HTTPProtocolError.Code.malformedRequestLine, 400), ("GET\n", .malformedRequestLine, 400),
            ("GET  / HTTP/1.1\n", .malformedRequestLine, 400), ("GET /  HTTP/1.1\n", .malformedRequestLine, 400),
            (" GET / HTTP/1.1\n", .malformedRequestLine, 400), ("GET / HTTP/1.1 \n", .malformedRequestLine, 400),
            ("GET / a HTTP/1.1\n", .malformedRequestLine, 400), ("GET\t/ HTTP/1.1\n", .malformedRequestLine, 400),
            ("GET /\ta HTTP/1.1\n", .malformedRequestLine, 400), ("G(T / HTTP/1.1\n", .malformedRequestLine, 400),
            ("GET / http/1.1\n", .malformedRequestLine, 400), ("GET / HTTP/1\n", .malformedRequestLine, 400),
            ("GET / HTTP/11\n", .malformedRequestLine, 400), ("\n\nGET / HTTP/1.1\n", .malformedRequestLine, 400),
            ("GET /\u{1} HTTP/1.1\n", .malformedRequestLine, 400), ("\u{16}\u{3}\u{1}", .malformedRequestLine, 400),
            ("PRI * HTTP/2.0\n\nSM\n\n", .unsupportedVersion, 505), ("GET / HTTP/0.9\n", .unsupportedVersion, 505),
            ("GET / HTTP/3.1\n", .unsupportedVersion, 505),
            // Fields (section 5).
            ("GET / HTTP/1.1\n Host: a\n\n", .obsoleteLineFolding, 400),
            ("GET / HTTP/1.1\nHost: a\n b\n\n", .obsoleteLineFolding, 400),
            ("GET / HTTP/1.1\nHost : a\n\n", .invalidFieldName, 400),
            ("GET / HTTP/1.1\n: a\n\n", .invalidFieldName, 400),
            ("GET / HTTP/1.1\nHost\n\n", .invalidFieldName, 400),
            ("GET / HTTP/1.1\nH\u{0}: a\n\n", .invalidFieldValue, 400),
            ("GET / HTTP/1.1\nHost: a\u{0}\n\n", .invalidFieldValue, 400),
            ("GET / HTTP/1.1\nHost: a\u{1B}[0m\n\n", .invalidFieldValue, 400),
            // Sections 3.2 and 6.
            ("GET / HTTP/1.1\n\n", .badHost, 400), ("GET / HTTP/1.1\nHost: a\nHost: a\n\n", .badHost, 400),
            ("GET x HTTP/1.1\nHost: a\n\n", .badTarget, 400),
            (
                "GET / HTTP/1.1\nHost: a\nContent-Length: 1\nTransfer-Encoding: chunked\n\n", .conflictingContentLength,
                400
            ),
            ("GET / HTTP/1.1\nHost: a\nTransfer-Encoding: gzip, chunked\n\n", .unsupportedTransferCoding, 501),
        ]
    )
    func refusing(text: String, code: HTTPProtocolError.Code, status: Int) {
        let fed = expectSameInEverySplit(wire(text)) { parse($0) }
        #expect(fed.outputs.isEmpty)
        #expect(fed.failure?.code == code)
        #expect(fed.failure?.status.code == status)
    }

    @Test(
        "A carriage return or a line feed alone is refused where it's seen",
        arguments: [
            ("GET / HTTP/1.1\nHost: a\n\n", 15), ("GET / HTTP/1.1\r\nHost: a\n\r\n", 24),
            ("GET / HTTP/1.1\rHost: a", 16),
            ("GET / HTTP/1.1\r\nA: b\rC: d\r\n", 22), ("\nGET / HTTP/1.1\r\n", 1), ("\r\r\n", 2),
        ]
    )
    func bareLineBreaks(text: String, taken: Int) {
        let fed = expectSameInEverySplit(Array(text.utf8)) { parse($0) }
        #expect(fed.failure?.code == .bareLineBreak)
        #expect(fed.taken == taken)
    }

    @Test("A head as long as the limit is read, and one byte more is refused at that byte")
    func headSize() {
        let input = wire("GET / HTTP/1.1\nHost: a\nX: " + String(repeating: "x", count: 500) + "\n\n")
        #expect(expectSameInEverySplit(input) { parse($0, limits: limits(headSize: input.count)) }.outputs.count == 1)
        let fed = expectSameInEverySplit(input) { parse($0, limits: limits(headSize: input.count - 1)) }
        #expect(fed.failure?.code == .headTooLarge)
        #expect(fed.failure?.status.code == 431)
        #expect(fed.taken == input.count)
    }

    @Test("A request line longer than 8 KiB, or than the whole head may be, is refused", arguments: [8_192, 100])
    func longTarget(bound: Int) {
        let line = "GET /" + String(repeating: "x", count: bound - 15) + " HTTP/1.1\n"
        let bounds = limits(headSize: bound == 8_192 ? 16_384 : bound)
        #expect(wire(line).count == bound + 1)
        let fed = expectSameInEverySplit(wire(line)) { parse($0, limits: bounds) }
        #expect(fed.failure?.code == .uriTooLong)
        #expect(fed.failure?.status.code == 414)
        #expect(fed.taken == bound + 1)
        #expect(parse([wire(line).filter { $0 != UInt8(ascii: "x") }], limits: bounds).failure == nil)
    }

    @Test("A method that doesn't end within the bounds is one that nobody implements", arguments: [8_192, 100])
    func longMethod(bound: Int) {
        let line = String(repeating: "X", count: bound + 1)
        let fed = expectSameInEverySplit(wire(line)) {
            parse($0, limits: limits(headSize: bound == 8_192 ? 16_384 : bound))
        }
        #expect(fed.failure?.code == .unknownMethod)
        #expect(fed.failure?.status.code == 501)
        #expect(fed.taken == bound + 1)
    }

    @Test("As many fields as the limit are read, and one more is refused")
    func fieldCount() {
        var bounds = HTTPLimits.internet
        bounds.headFields = 3
        let start = "GET / HTTP/1.1\nHost: a\nB: b\nC: c\n"
        #expect(parse([wire(start + "\n")], limits: bounds).outputs.count == 1)
        let fed = expectSameInEverySplit(wire(start + "D: d\n\n")) { parse($0, limits: bounds) }
        #expect(fed.failure?.code == .tooManyFields)
        #expect(fed.failure?.status.code == 431)
    }

    @Test("A limit on fields that is beyond what a collection of them can hold doesn't trap")
    func fieldBoundOfAll() {
        var bounds = HTTPLimits.unlimited
        bounds.headFields = .max
        bounds.headSize = .mebibytes(4)
        let headers = String(repeating: "a:\n", count: 70_000)
        #expect(parse([wire("GET / HTTP/1.1\n" + headers)], limits: bounds).failure?.code == .tooManyFields)
    }

    @Test("A failed parser throws the same error at each further call")
    func failing() {
        var parser = RequestHeadParser()
        var position = 0
        let bad = wire("GET /\n")
        let good = wire("GET / HTTP/1.1\nHost: a\n\n")
        let first = #expect(throws: HTTPProtocolError.self) { try parser.parse(bad.span, from: &position) }
        position = 0
        let second = #expect(throws: HTTPProtocolError.self) { try parser.parse(good.span, from: &position) }
        #expect(first == second)
        #expect(position == 0)
    }

    @Test("A head has begun with its first byte, and has ended with its last")
    func midHead() throws {
        var parser = RequestHeadParser()
        var seen: [Bool] = [parser.isMidHead]
        for byte in wire("\nG / HTTP/1.0\nA: b\n\n") {
            var position = 0
            _ = try parser.parse([byte].span, from: &position)
            seen.append(parser.isMidHead)
        }
        #expect(seen.firstIndex(of: true) == 3)
        #expect(seen.lastIndex(of: true) == seen.count - 2)
        #expect(!seen[3..<(seen.count - 1)].contains(false))
    }

    @Test(
        "A value in another encoding than UTF-8 is taken",
        arguments: [[0xE9], [0xFF, 0xFE], [0xC3, 0xA9]] as [[UInt8]]
    )
    func obsoleteText(value: [UInt8]) throws {
        let input = wire("GET / HTTP/1.1\nHost: a\nX: ") + value + wire("\n\n")
        let fed = expectSameInEverySplit(input) { parse($0) }
        let field = try #require(fed.outputs.first?.headers.last)
        #expect(field == HTTPField(name: field.name, value: value))
    }

    @Test("The message about a refusal has no control characters in it")
    func messages() throws {
        let fed = parse([wire("GET /\u{9}" + String(repeating: "\u{E9}", count: 4_000) + "\n")])
        let message = try #require(fed.failure?.message)
        #expect(message.utf8.count < 400)
        #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    }

    @Test("Random bytes never do more than fail")
    func randomInput() {
        var random = Congruential(state: 6_455)
        let letters = Array("GET /a?HTP1.0:\r\n\r\n \tHost,\u{0}".utf8)
        for _ in 0..<400 {
            let input = (0..<40).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
            expectSameInEverySplit(wire("GET / HTTP/1.1\nHost: a\n") + input) { parse($0) }
            expectSameInEverySplit(input) { parse($0) }
        }
    }

    private func limits(headSize: Int) -> HTTPLimits {
        var limits = HTTPLimits.internet
        limits.headSize = .bytes(headSize)
        return limits
    }

    private func parse(_ pieces: [[UInt8]], limits: HTTPLimits = .internet) -> Fed<RequestHead, HTTPProtocolError> {
        var parser = RequestHeadParser(limits: limits)
        return feed(pieces) { (piece, position) throws(HTTPProtocolError) in try parser.parse(piece, from: &position) }
    }
}

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
            ("\n", HTTPProtocolError.Code.malformedStatusLine), ("HTTP/1.1\n", .malformedStatusLine),
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
    func refusing(text: String, code: HTTPProtocolError.Code) {
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
    func folded(headers: String, expected: [String: String]) throws {
        let fed = expectSameInEverySplit(wire("HTTP/1.1 101 Switching Protocols\n\(headers)\n")) { parse($0) }
        let head = try #require(fed.outputs.first)
        let pairs = head.headers.map { ($0.name.rawName, $0.value) }
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

    private func parse(_ pieces: [[UInt8]], limits: HTTPLimits = .internet) -> Fed<ResponseHead, HTTPProtocolError> {
        var parser = ResponseHeadParser(limits: limits)
        return feed(pieces) { (piece, position) throws(HTTPProtocolError) in try parser.parse(piece, from: &position) }
    }
}
