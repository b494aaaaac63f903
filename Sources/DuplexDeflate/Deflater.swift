// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Deflates messages with zlib (RFC 1951, RFC 7692 section 7.2.1).
///
/// Memory is taken with the first message: 2 to the power of `windowBits + 2` and of `memoryLevel + 9` bytes, and about
/// 6 KiB; that is 38 KiB with 12 bits and level 5. ``rest()`` gives it all back. A deflater isn't safe to use from several
/// threads.
public final class Deflater {
    /// How a deflater works.
    public struct Settings: Sendable, Hashable {
        /// The exponent of the window: 9 to 15, for 512 bytes to 32 KiB; zlib can't deflate with 8.
        public let windowBits: Int
        /// From 0, which packs nothing, over 1, the fastest, to 9, the tightest.
        public let level: Int
        /// From 1, the least memory, to 9, the fastest.
        public let memoryLevel: Int

        /// Makes settings; numbers that zlib doesn't take become the nearest that it does.
        ///
        /// - Parameters:
        ///   - windowBits: the exponent of the window; 12 unless told otherwise.
        ///   - level: how hard to try; 6 unless told otherwise.
        ///   - memoryLevel: how much memory to use for it; 5 unless told otherwise.
        public init(windowBits: Int = 12, level: Int = 6, memoryLevel: Int = 5) {
            self.windowBits = min(max(windowBits, 9), 15)
            self.level = min(max(level, 0), 9)
            self.memoryLevel = min(max(memoryLevel, 1), 9)
        }
    }

    /// How it works.
    public let settings: Settings
    private var stream: ZlibStream?

    /// What is taken off the end of each message.
    private static let endCount = 4
    /// The most room that zlib is given at once.
    private static let pieceSize = 64 * 1_024

    /// Makes a deflater without memory; it takes some when there is something to deflate.
    public init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    /// Whether zlib's memory is held.
    public var holdsMemory: Bool { stream != nil }

    /// Deflates a piece of a message, so that the peer can inflate all of it.
    ///
    /// Pieces refer to what came before them, also in earlier messages, until ``reset()`` or ``rest()``.
    ///
    /// - Parameters:
    ///   - input: the piece.
    ///   - isLast: whether the message ends with it; it does unless told otherwise. Then the bytes 00 00 FF FF at the end
    ///     are left out, which the peer puts back.
    ///   - output: what comes of it is appended.
    /// - Returns: whether it could be done; false for want of memory, with nothing appended.
    public func deflate(_ input: RawSpan, isLast: Bool = true, into output: inout [UInt8]) -> Bool {
        if input.isEmpty {
            // RFC 7692 section 7.2.3.6: the beginning of an empty block, whose rest is what was left out. zlib flushes
            // nothing when nothing has come since the last time.
            if isLast { output.append(0) }
            return true
        }
        guard let stream = ready() else { return false }
        var position = 0
        var status = ZlibStream.Status.outputFull
        while status == .outputFull {
            let room = min(max(input.byteCount - position, 64) + 64, Self.pieceSize)
            status = stream.run(input, from: &position, into: &output, upTo: room)
        }
        // Deflating can't fail once there is a stream, and ends no stream by itself.
        precondition(status == .inputTaken, "zlib can't deflate.")
        if isLast { output.removeLast(Self.endCount) }
        return true
    }

    /// Forgets what came before: the next message refers to nothing before it.
    public func reset() {
        stream?.reset()
    }

    /// Gives back zlib's memory, and forgets what came before.
    public func rest() {
        stream = nil
    }

    private func ready() -> ZlibStream? {
        if stream == nil {
            stream = ZlibStream(
                .deflating(
                    level: settings.level,
                    windowBits: settings.windowBits,
                    memoryLevel: settings.memoryLevel
                )
            )
        }
        return stream
    }
}
