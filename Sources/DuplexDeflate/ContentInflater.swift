// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
package import DuplexWire

/// Takes the codings off one content, piece by piece, never more at once than 64 KiB (RFC 9110 section 8.4).
///
/// What comes out is bounded, and so is what lies between two codings: however little a client sends, it doesn't become
/// more. A stream of zlib has 40 KiB. Not safe to use from several threads.
package final class ContentInflater {
    /// The codings, from the one that comes off first on.
    private let stages: [Stage]
    private var input: [UInt8] = []
    private var failure: HTTPProtocolError?

    /// The longest piece.
    static let pieceSize = 64 * 1_024

    /// Begins a content.
    ///
    /// - Parameters:
    ///   - codings: in the order in which they were applied.
    ///   - limit: the most bytes that come out.
    ///   - pool: where streams of zlib come from.
    package init(_ codings: [ContentCoding], upTo limit: ByteCount, pool: ContentPool) {
        stages = codings.reversed().map { Stage($0, limit: limit.bytes, pool: pool) }
    }

    /// Takes what has come; ``next()`` has returned nil for what came before.
    package func take(_ piece: [UInt8]) {
        input = piece
    }

    /// The next bytes of the content, or nil when more input is needed.
    ///
    /// - Throws: `HTTPProtocolError` with 400 for what isn't in its coding, with 413 beyond the limit; then with each further call.
    package func next() throws(HTTPProtocolError) -> [UInt8]? {
        try guarded { () throws(HTTPProtocolError) in try pull(stages.count - 1) }
    }

    /// The input has ended.
    ///
    /// - Throws: `HTTPProtocolError` with 400 when there should have been more.
    package func finish() throws(HTTPProtocolError) {
        try guarded { () throws(HTTPProtocolError) in
            for stage in stages { try stage.finish() }
        }
    }

    private func guarded<Result>(_ body: () throws(HTTPProtocolError) -> Result) throws(HTTPProtocolError) -> Result {
        if let failure { throw failure }
        do throws(HTTPProtocolError) {
            return try body()
        } catch {
            failure = error
            throw error
        }
    }

    /// The next bytes that a stage gives.
    private func pull(_ index: Int) throws(HTTPProtocolError) -> [UInt8]? {
        guard index >= 0 else {
            defer { input = [] }
            return input.isEmpty ? nil : input
        }
        while true {
            if let piece = try stages[index].next() { return piece }
            guard let more = try pull(index - 1) else { return nil }
            stages[index].take(more)
        }
    }
}

/// One coding that comes off.
private final class Stage {
    private let coding: ContentCoding
    private let limit: Int
    private let pool: ContentPool
    private var stream: ZlibStream?
    private var input: [UInt8] = []
    private var position = 0
    private var count = 0
    /// Whether what was taken last ended what the coding has an end of.
    private var hasEnded = true
    /// Whether zlib may have more to give without more input.
    private var mayHaveMore = false

    init(_ coding: ContentCoding, limit: Int, pool: ContentPool) {
        self.coding = coding
        self.limit = limit
        self.pool = pool
    }

    func take(_ piece: [UInt8]) {
        input = piece
        position = 0
    }

    func next() throws(HTTPProtocolError) -> [UInt8]? {
        var output: [UInt8] = []
        while output.isEmpty, position < input.count || mayHaveMore {
            if hasEnded { try begin() }
            guard let stream else { throw HTTPProtocolError(.bodyTooLarge, "there is no memory to inflate the body") }
            // One more than is allowed is enough to see that there is more.
            let left = limit - count
            let room = left < ContentInflater.pieceSize ? left + 1 : ContentInflater.pieceSize
            let status = stream.run(input.span.raw, from: &position, into: &output, upTo: room)
            mayHaveMore = status == .outputFull
            switch status {
            case .inputTaken, .outputFull: break
            case .ended: hasEnded = true
            case .corrupt: throw HTTPProtocolError(.malformedBody, "the body isn't \(coding.rawValue), or is damaged")
            }
            count += output.count
            if count > limit {
                throw HTTPProtocolError(.bodyTooLarge, "the body is longer than \(limit) bytes once it is inflated")
            }
        }
        return output.isEmpty ? nil : output
    }

    /// At the beginning, and behind an end: a gzip file may have several members (RFC 1952 section 2.2).
    private func begin() throws(HTTPProtocolError) {
        if let stream {
            guard coding == .gzip else {
                throw HTTPProtocolError(.malformedBody, "the body goes on behind the end of its \(coding.rawValue)")
            }
            stream.reset()
        } else {
            let first = position < input.count ? input[position] : 0
            stream = pool.take(.inflating(windowBits: 15, format: Self.format(coding, first)))
        }
        hasEnded = false
    }

    /// By its first byte: zlib's names the method 8 and a window of at most 7 (RFC 1950 section 2.2), which without a wrapping
    /// would begin a block that isn't compressed, with a bit set that nobody sets (RFC 1951 section 3.2.4).
    private static func format(_ coding: ContentCoding, _ first: UInt8) -> ZlibStream.Format {
        switch coding {
        case .gzip: .gzip
        case .deflate: first & 0x0F == 8 && first >> 4 <= 7 ? .zlib : .raw
        }
    }

    func finish() throws(HTTPProtocolError) {
        guard hasEnded else { throw HTTPProtocolError(.malformedBody, "the body ends within its \(coding.rawValue)") }
        if let stream { pool.give(stream) }
        stream = nil
    }
}
