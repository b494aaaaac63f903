// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite struct CloseSearchTests {
    /// What a search finds in the bytes.
    private static func found(_ pieces: [[UInt8]], isMasked: Bool) -> [UInt8]? {
        var search = CloseSearch(isMasked: isMasked)
        for piece in pieces {
            if let payload = search.search(piece.span.raw) { return payload }
        }
        return nil
    }

    private static let close: [UInt8] = [0x88, 0x04, 0x03, 0xE9, 0x62, 0x79]

    @Test(
        "A close frame is found behind frames of all kinds, in every split",
        arguments: [
            [], [0x81, 0x02, 0x68, 0x69], [0x81, 0x00, 0x82, 0x00],
            [0x01, 0x01, 0x61, 0x89, 0x01, 0x88, 0x80, 0x01, 0x62],
            // A payload that looks like a close frame.
            [0x82, 0x06] + close, [0x8A, 0x00, 0x89, 0x00],
            [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 0x88, count: 256),
        ] as [[UInt8]]
    )
    func found(before: [UInt8]) throws {
        let input = before + Self.close
        try SplitVerifier().verify(input) { Self.found($0, isMasked: false) }
        #expect(Self.found([input], isMasked: false) == [0x03, 0xE9, 0x62, 0x79])
    }

    @Test("What a client sends is unmasked")
    func masked() throws {
        let text: [UInt8] = [0x81, 0x81, 1, 2, 3, 4, 0x61]
        let close: [UInt8] = [0x88, 0x85, 1, 2, 3, 4, 0x03 ^ 1, 0xE8 ^ 2, 0x61 ^ 3, 0x62 ^ 4, 0x63 ^ 1]
        try SplitVerifier().verify(text + close) { Self.found($0, isMasked: true) }
        #expect(Self.found([text + close], isMasked: true) == [0x03, 0xE8, 0x61, 0x62, 0x63])
    }

    @Test("A close frame without a payload is one")
    func empty() {
        #expect(Self.found([[0x88, 0x00]], isMasked: false) == [])
        #expect(Self.found([[0x88, 0x80, 1, 2, 3, 4]], isMasked: true) == [])
    }

    @Test(
        "Behind a frame that breaks a rule nothing is looked for",
        arguments: [
            // Masked, reserved, a length that isn't the shortest, a long ping.
            [0x81, 0x80, 1, 2, 3, 4], [0x83, 0x00], [0x81, 0x7E, 0x00, 0x01, 0x61], [0x89, 0x7E, 0x01, 0x00],
        ] as [[UInt8]]
    )
    func broken(before: [UInt8]) throws {
        let input = before + [UInt8](repeating: 0, count: 256) + Self.close
        try SplitVerifier().verify(input) { Self.found($0, isMasked: false) }
        var search = CloseSearch(isMasked: false)
        #expect(search.search(input.span.raw) == nil)
        #expect(search.isOver)
    }

    @Test("A length announces nothing that is kept")
    func announced() {
        var search = CloseSearch(isMasked: false)
        #expect(search.search([0x82, 0x7F, 0x7F, 0, 0, 0, 0, 0, 0, 0].span.raw) == nil)
        #expect(search.search([UInt8](repeating: 0x88, count: 1_024).span.raw) == nil)
        #expect(!search.isOver)
    }

    @Test("What was found isn't found again")
    func once() {
        var search = CloseSearch(isMasked: false)
        let close = Self.close
        let found = [search.search(close.span.raw), search.search(close.span.raw), search.search(RawSpan())]
        #expect(found == [[0x03, 0xE9, 0x62, 0x79], nil, nil])
    }
}
