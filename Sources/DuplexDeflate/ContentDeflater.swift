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

/// What the connections of one event loop share to code contents of HTTP and to take codings off (RFC 9110 section 8.4.1).
///
/// Whoever has used a stream of zlib to its end leaves it to the next one. Not safe to use from several threads.
package final class ContentPool {
    private var streams: [ZlibStream.Kind: [ZlibStream]] = [:]

    /// The most streams of a kind that wait for the next use: an inflating one has 40 KiB, a deflating one up to 264.
    static let spares = 2

    /// Makes a pool without anything in it.
    package init() {}

    /// How many streams nobody uses.
    var spareStreams: Int { streams.values.reduce(0) { $0 + $1.count } }

    /// A stream as a new one; nil without memory for it.
    func take(_ kind: ZlibStream.Kind) -> ZlibStream? {
        streams[kind]?.popLast() ?? ZlibStream(kind)
    }

    func give(_ stream: ZlibStream) {
        guard streams[stream.kind, default: []].count < Self.spares else { return }
        stream.reset()
        streams[stream.kind, default: []].append(stream)
    }

    /// Deflates a content whole.
    ///
    /// - Parameters:
    ///   - content: the bytes.
    ///   - coding: what they become.
    ///   - level: how hard to try, from 1 to 9.
    /// - Returns: the coded bytes; nil without memory for it.
    package func deflate(_ content: RawSpan, _ coding: ContentCoding, level: Int) -> [UInt8]? {
        guard let deflater = ContentDeflater(coding, level: level, isWhole: true, pool: self) else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(content.byteCount / 4 + 64)
        deflater.deflate(content, flushes: false, into: &output)
        deflater.finish(into: &output)
        return output
    }
}
