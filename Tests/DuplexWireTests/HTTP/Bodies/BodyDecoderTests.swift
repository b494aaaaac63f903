// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import HTTPTypes
import Testing

@Suite("Bodies")
struct BodyDecoderTests {
    @Test("A body of known length ends with its last byte, and what follows is left", arguments: [1, 2, 5, 300])
    func counted(count: Int) {
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let decoded = expectSameInEverySplit(body + wire("GET")) { DecodedBody($0, .length(count)) }
        #expect(decoded.body == body)
        #expect(decoded.isComplete)
        #expect(decoded.taken == count)
    }

    @Test("Without a body nothing is taken", arguments: [BodyFraming.none, .length(0)])
    func empty(framing: BodyFraming) throws {
        #expect(DecodedBody([wire("GET")], framing) == DecodedBody(body: [], isComplete: true, taken: 0))
        #expect(try BodyDecoder(framing).isComplete)
    }

    @Test("A body that is announced to be longer than the limit is refused before a byte of it is read")
    func announced() throws {
        var limits = HTTPLimits.internet
        limits.bodySize = 10
        _ = try BodyDecoder(.length(10), limits: limits)
        let error = #expect(throws: HTTPProtocolError.self) { try BodyDecoder(.length(11), limits: limits) }
        #expect(error?.status == .contentTooLarge)
    }

    @Test("A body that lasts until the connection closes takes all there is, up to the limit")
    func untilClose() throws {
        var limits = HTTPLimits.internet
        limits.bodySize = 10
        let ten = Array("0123456789".utf8)
        let decoded = expectSameInEverySplit(ten) { DecodedBody($0, .untilClose, limits: limits) }
        #expect(decoded == DecodedBody(body: ten, isComplete: false, taken: 10))
        let longer = expectSameInEverySplit(ten + ten) { DecodedBody($0, .untilClose, limits: limits) }
        #expect(longer.error?.status == .contentTooLarge)
        #expect(longer.body == ten)
    }

    @Test("The end of the stream completes a body that lasts until then, and no other")
    func finishing() throws {
        var decoder = try BodyDecoder(.untilClose)
        try decoder.finish()
        #expect(decoder.isComplete)
        var none = try BodyDecoder(.none)
        try none.finish()
        for framing in [BodyFraming.length(1), .chunked] {
            var decoder = try BodyDecoder(framing)
            let error = #expect(throws: HTTPProtocolError.self) { try decoder.finish() }
            #expect(error?.code == .truncated)
        }
    }

    @Test("A failed decoder throws the same error at each further call")
    func failing() throws {
        var decoder = try BodyDecoder(.chunked)
        var body: [UInt8] = []
        var position = 0
        let first = #expect(throws: HTTPProtocolError.self) {
            try decoder.decode(wire("x\n").span, from: &position, into: &body)
        }
        position = 0
        let second = #expect(throws: HTTPProtocolError.self) {
            try decoder.decode(wire("0\n\n").span, from: &position, into: &body)
        }
        #expect(first == second)
        #expect(throws: HTTPProtocolError.self) { try decoder.finish() }
    }
}

/// All that can be told about a decoder that was fed.
struct DecodedBody: Equatable {
    var body: [UInt8] = []
    var isComplete = false
    var taken = 0
    var error: HTTPProtocolError?

    init(body: [UInt8], isComplete: Bool, taken: Int) {
        self.body = body
        self.isComplete = isComplete
        self.taken = taken
    }

    init(_ pieces: [[UInt8]], _ framing: BodyFraming, limits: HTTPLimits = .internet) {
        do throws(HTTPProtocolError) {
            var decoder = try BodyDecoder(framing, limits: limits)
            for piece in pieces where !isComplete {
                var position = 0
                defer { taken += position }
                isComplete = try decoder.decode(piece.span, from: &position, into: &body)
            }
        } catch {
            self.error = error
        }
    }
}

@Suite("Bodies in pieces")
struct BodyPieceTests {
    private static let nothing: [UInt8] = []

    @Test("A body in one input is one piece in place, then its end, then nothing")
    func inPlace() throws {
        let input = wire("helloGET")
        var decoder = try BodyDecoder(.length(5))
        var position = 0
        #expect(try decoder.next(input.span, from: &position) == .data(0..<5))
        #expect(decoder.isComplete)
        #expect(try decoder.next(input.span, from: &position) == .end(trailers: [:]))
        #expect(try decoder.next(input.span, from: &position) == nil)
        #expect(position == 5)
    }

    @Test("A piece of a chunk is told as soon as it has come, with nothing copied")
    func partOfChunk() throws {
        var decoder = try BodyDecoder(.chunked)
        let first = wire("5\nhe")
        var position = 0
        #expect(try decoder.next(first.span, from: &position) == .data(3..<5))
        #expect(try decoder.next(first.span, from: &position) == nil)
        let rest = wire("llo\n0\n\n")
        position = 0
        #expect(try decoder.next(rest.span, from: &position) == .data(0..<3))
        #expect(try decoder.next(rest.span, from: &position) == .end(trailers: [:]))
        #expect(position == rest.count)
    }

    @Test("Without a body the end comes at once, with no input at all", arguments: [BodyFraming.none, .length(0)])
    func empty(framing: BodyFraming) throws {
        var decoder = try BodyDecoder(framing)
        var position = 0
        #expect(try decoder.next(Self.nothing.span, from: &position) == .end(trailers: [:]))
        #expect(try decoder.next(Self.nothing.span, from: &position) == nil)
    }

    @Test("A body that lasts until the connection closes ends when that is told")
    func untilClose() throws {
        var decoder = try BodyDecoder(.untilClose)
        var position = 0
        #expect(try decoder.next(wire("abc").span, from: &position) == .data(0..<3))
        #expect(try decoder.next(wire("abc").span, from: &position) == nil)
        try decoder.finish()
        #expect(try decoder.next(Self.nothing.span, from: &position) == .end(trailers: [:]))
    }

    @Test(
        "Every split gives the same bytes and the same end",
        arguments: [
            ("5\nhello\n6;x\n world\n0\nA: 1\nB: 2\n\nGET", BodyFraming.chunked, "hello world", 2),
            ("0\n\n", .chunked, "", 0), ("hello", .length(5), "hello", 0), ("helloGET", .length(5), "hello", 0),
        ]
    )
    func splits(text: String, framing: BodyFraming, body: String, trailers: Int) {
        let pieces = expectSameInEverySplit(wire(text)) { BodyInPieces($0, framing) }
        #expect(pieces.body == Array(body.utf8))
        #expect(pieces.ends.count == 1)
        #expect(pieces.ends.first?.count == trailers)
        #expect(pieces.error == nil)
    }

    @Test(
        "Every split gives the same error after the same bytes",
        arguments: [
            ("3\nabc\n4\ndefg\n0\n\n", 413, "abc"), ("3\nabc\nx\n", 400, "abc"), ("3\nabcd\n", 400, "abc"),
            ("0\nno colon\n\n", 400, ""),
        ]
    )
    func errors(text: String, status: Int, body: String) {
        var limits = HTTPLimits.internet
        limits.bodySize = 6
        let pieces = expectSameInEverySplit(wire(text)) { [limits] in BodyInPieces($0, .chunked, limits: limits) }
        #expect(pieces.error?.status.code == status)
        #expect(pieces.body == Array(body.utf8))
        #expect(pieces.ends.isEmpty)
    }

    @Test("A body of any size passes through a decoder that keeps none of it")
    func large() throws {
        var limits = HTTPLimits.internet
        limits.bodySize = .gibibytes(1)
        let input = [UInt8](repeating: 1, count: 1 << 16)
        var decoder = try BodyDecoder(.length(1 << 30), limits: limits)
        var total = 0
        while !decoder.isComplete {
            var position = 0
            while case .data(let range) = try decoder.next(input.span, from: &position) { total += range.count }
        }
        #expect(total == 1 << 30)
    }
}

/// All that a decoder tells of a body that it is asked for piece by piece.
private struct BodyInPieces: Equatable {
    var body: [UInt8] = []
    var ends: [HTTPFields] = []
    var taken = 0
    var error: HTTPProtocolError?

    init(_ pieces: [[UInt8]], _ framing: BodyFraming, limits: HTTPLimits = .internet) {
        do throws(HTTPProtocolError) {
            var decoder = try BodyDecoder(framing, limits: limits)
            for piece in pieces { try take(piece, &decoder) }
        } catch {
            self.error = error
        }
    }

    private mutating func take(_ input: [UInt8], _ decoder: inout BodyDecoder) throws(HTTPProtocolError) {
        var position = 0
        defer { taken += position }
        while let piece = try decoder.next(input.span, from: &position) {
            switch piece {
            case .data(let range): body += input[range]
            case .end(let trailers): ends.append(trailers)
            }
        }
    }
}
