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
        let error = #expect(throws: HTTPError.self) { try BodyDecoder(.length(11), limits: limits) }
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
            let error = #expect(throws: HTTPError.self) { try decoder.finish() }
            #expect(error?.code == .truncated)
        }
    }

    @Test("A failed decoder throws the same error at each further call")
    func failing() throws {
        var decoder = try BodyDecoder(.chunked)
        var body: [UInt8] = []
        var position = 0
        let first = #expect(throws: HTTPError.self) {
            try decoder.decode(wire("x\n").span, from: &position, into: &body)
        }
        position = 0
        let second = #expect(throws: HTTPError.self) {
            try decoder.decode(wire("0\n\n").span, from: &position, into: &body)
        }
        #expect(first == second)
        #expect(throws: HTTPError.self) { try decoder.finish() }
    }
}

/// All that can be told about a decoder that was fed.
struct DecodedBody: Equatable {
    var body: [UInt8] = []
    var isComplete = false
    var taken = 0
    var error: HTTPError?

    init(body: [UInt8], isComplete: Bool, taken: Int) {
        self.body = body
        self.isComplete = isComplete
        self.taken = taken
    }

    init(_ pieces: [[UInt8]], _ framing: BodyFraming, limits: HTTPLimits = .internet) {
        do throws(HTTPError) {
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
