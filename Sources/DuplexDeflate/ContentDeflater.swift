// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexWire

/// Puts one content into a coding, piece by piece, with a stream of zlib that it borrows up to its end.
///
/// Not safe to use from several threads.
package final class ContentDeflater {
    private let pool: ContentPool
    private var stream: ZlibStream?

    /// The most room that zlib is given at once.
    private static let pieceSize = 64 * 1_024

    /// Begins a content; nil without memory for it.
    ///
    /// - Parameters:
    ///   - coding: what it becomes.
    ///   - level: how hard to try, from 1, the fastest, to 9; the nearest of them for any other number.
    ///   - isWhole: whether it is done at once: then one stream with 264 KiB serves all. One that takes its time has 104 KiB,
    ///     as there may be many of them.
    ///   - pool: where the stream comes from.
    package init?(_ coding: ContentCoding, level: Int, isWhole: Bool, pool: ContentPool) {
        let format: ZlibStream.Format = coding == .gzip ? .gzip : .zlib
        let kind = ZlibStream.Kind.deflating(
            level: min(max(level, 1), 9),
            windowBits: isWhole ? 15 : 13,
            memoryLevel: isWhole ? 8 : 7,
            format: format
        )
        guard let stream = pool.take(kind) else { return nil }
        self.pool = pool
        self.stream = stream
    }

    /// Begins a content that something else stands around, such as a zip: without a header and a checksum (RFC 1951).
    ///
    /// Takes 264 KiB; nil without memory for it.
    ///
    /// - Parameters:
    ///   - level: as of the other.
    ///   - pool: where the stream comes from.
    package init?(rawAt level: Int, pool: ContentPool) {
        let level = min(max(level, 1), 9)
        guard let stream = pool.take(.deflating(level: level, windowBits: 15, memoryLevel: 8)) else { return nil }
        self.pool = pool
        self.stream = stream
    }

    /// Takes a piece; nothing behind ``finish(into:)``.
    ///
    /// - Parameters:
    ///   - piece: the bytes.
    ///   - flushes: whether all of it can be inflated from the output, before there is more.
    ///   - output: the deflated bytes are appended.
    package func deflate(_ piece: RawSpan, flushes: Bool, into output: inout [UInt8]) {
        if !piece.isEmpty { run(piece, flushes ? .sync : .none, into: &output) }
    }

    /// Ends the content: appends what is left of it, and its checksum.
    package func finish(into output: inout [UInt8]) {
        run(RawSpan(), .finish, into: &output)
        if let stream { pool.give(stream) }
        stream = nil
    }

    private func run(_ input: RawSpan, _ flush: ZlibStream.Flush, into output: inout [UInt8]) {
        guard let stream else { return }
        var position = 0
        var status = ZlibStream.Status.outputFull
        while status == .outputFull {
            let room = min(max(input.byteCount - position, 64) + 64, Self.pieceSize)
            status = stream.run(input, from: &position, into: &output, upTo: room, flush: flush)
        }
        // Deflating can't fail once there is a stream.
        precondition(status == (flush == .finish ? .ended : .inputTaken), "zlib can't deflate.")
    }
}
