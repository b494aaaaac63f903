// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexWire

/// A body that is put into a coding when it is sent.
final class CodedBody: Sendable {
    let body: ResponseBody
    let coding: ContentCoding
    let level: Int

    init(_ body: ResponseBody, _ coding: ContentCoding, level: Int) {
        self.body = body
        self.coding = coding
        self.level = level
    }

    /// Bodies up to this size are compressed at once, which takes some milliseconds.
    private static let size = 256 * 1_024

    /// Whether the bytes are at hand, and short enough to be coded without others on the loop waiting for it.
    var isAtHand: Bool { body.isAtHand && (body.count ?? .max) <= Self.size }
}

/// The coding of a body that goes out piece by piece.
///
/// Belongs to its exchange.
final class OutgoingCoding {
    private let deflater: ContentDeflater
    /// How much is still to come, where that was said.
    private var left: Int?
    /// How much was deflated since others on the loop had their turn.
    private var inTurn = 0

    /// How much is deflated before others have their turn.
    private static let turn = 256 * 1_024
    /// How many bytes could be deflated in the time that a flush takes.
    private static let flushCost = 1_024

    /// Begins a body; nil without memory for it.
    init?(_ body: CodedBody, pool: ContentPool) {
        let deflater = ContentDeflater(body.coding, level: body.level, isWhole: false, pool: pool)
        guard let deflater else { return nil }
        self.deflater = deflater
        left = body.body.count
    }

    /// Whether others are to have their turn now.
    var hasHadTurn: Bool {
        defer { if inTurn >= Self.turn { inTurn = 0 } }
        return inTurn >= Self.turn
    }

    /// What a piece becomes.
    ///
    /// - Parameters:
    ///   - piece: the bytes.
    ///   - flushes: whether all of it goes out now.
    /// - Returns: the bytes that go out.
    /// - Throws: `HTTPProtocolError` with `wrongLength` when there is more than was said.
    func coded(_ piece: [UInt8], flushes: Bool) throws(HTTPProtocolError) -> [UInt8] {
        if let left {
            guard piece.count <= left else {
                throw HTTPProtocolError(.wrongLength, "the body has \(piece.count - left) bytes more than was said")
            }
            self.left = left - piece.count
        }
        inTurn += piece.count + Self.flushCost
        var output: [UInt8] = []
        deflater.deflate(piece.span.raw, flushes: flushes, into: &output)
        return output
    }

    /// What goes behind the last piece.
    ///
    /// - Throws: `HTTPProtocolError` with `wrongLength` when there is less than was said.
    func end() throws(HTTPProtocolError) -> [UInt8] {
        if let left, left > 0 { throw HTTPProtocolError(.wrongLength, "the body has \(left) bytes less than was said") }
        var output: [UInt8] = []
        deflater.finish(into: &output)
        return output
    }
}
