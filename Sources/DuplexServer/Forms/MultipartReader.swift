// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Reads a body of several parts: what the form and its parts share.
///
/// Not `Sendable`, as nothing here is: one task reads.
final class MultipartReader {
    private var parser: MultipartParser
    private var pieces: RequestBody.AsyncIterator
    private var input: [UInt8] = []
    private var position = 0
    /// The number of the part that is being read, and whether it has ended.
    private var part = 0
    private var hasEnded = true
    private var isOver = false

    init(_ parser: MultipartParser, _ body: RequestBody) {
        self.parser = parser
        pieces = body.makeAsyncIterator()
    }

    func nextPart() async throws -> MultipartPart? {
        while let event = try await nextEvent() {
            switch event {
            case .begin(let head):
                part += 1
                hasEnded = false
                return MultipartPart(head, self, part)
            case .piece: break
            case .end: hasEnded = true
            }
        }
        return nil
    }

    func nextPiece(of number: Int) async throws -> [UInt8]? {
        guard number == part, !hasEnded else { return nil }
        switch try await nextEvent() {
        case .piece(let piece): return piece
        case .end, .begin, nil:
            hasEnded = true
            return nil
        }
    }

    private func nextEvent() async throws -> MultipartEvent? {
        while !isOver {
            let bytes = input
            if let event = try parser.next(bytes.span, from: &position) { return event }
            position = 0
            if let piece = try await pieces.next() {
                input = piece
            } else {
                input = []
                isOver = true
            }
        }
        try parser.finish()
        return nil
    }
}
