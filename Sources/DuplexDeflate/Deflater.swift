// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase

/// Deflates messages with ISA-L (RFC 1951, RFC 7692 section 7.2.1).
///
/// The engine belongs to the pool. What a deflater has of its own are the last bytes of its messages, 2 to the power of
/// `windowBits` at most, for the next one to refer to. ``rest()`` gives them back. A deflater isn't safe to use from several
/// threads.
package final class Deflater {
    /// How a deflater works.
    package struct Settings: Sendable, Hashable {
        /// The exponent of the window: 8 to 15, for 256 bytes to 32 KiB.
        package let windowBits: Int
        /// From 0 and 1, the fastest, to 9, the tightest.
        package let level: Int

        /// Makes settings; numbers outside their ranges become the nearest that are within.
        ///
        /// - Parameters:
        ///   - windowBits: the exponent of the window. Default: 12.
        ///   - level: how hard to try, in zlib's numbers. ISA-L has four levels: 0 and 1 are its 0, with the codes of the
        ///     standard; 2 to 6 its 1; 7 and 8 its 2; 9 its 3. Default: 6.
        package init(windowBits: Int = 12, level: Int = 6) {
            self.windowBits = min(max(windowBits, 8), 15)
            self.level = min(max(level, 0), 9)
        }

        /// ISA-L's level for this one.
        var engineLevel: Int {
            switch level {
            case ...1: 0
            case ...6: 1
            case ...8: 2
            default: 3
            }
        }
    }

    /// How it works.
    package let settings: Settings
    /// Whether messages refer to those before them.
    package let keepsContext: Bool
    private let pool: DeflatePool
    private var window: DeflateWindow

    /// What is taken off the end of each message.
    private static let endCount = 4

    /// Makes a deflater without memory; it takes some when there is something to deflate.
    ///
    /// - Parameters:
    ///   - settings: how it works.
    ///   - keepsContext: whether messages refer to those before them. Default: true.
    ///   - pool: whose engine it uses. Default: one of its own.
    package init(_ settings: Settings = Settings(), keepsContext: Bool = true, pool: DeflatePool = DeflatePool()) {
        self.settings = settings
        self.keepsContext = keepsContext
        self.pool = pool
        window = DeflateWindow(bits: settings.windowBits)
    }

    /// Whether it holds something to refer to.
    package var holdsMemory: Bool { !window.bytes.isEmpty }

    /// Deflates a piece of a message, so that the peer can inflate all of it.
    ///
    /// Pieces refer to what came before them, with context also in earlier messages, until ``reset()`` or ``rest()``.
    ///
    /// - Parameters:
    ///   - input: the piece.
    ///   - isLast: whether the message ends with it; then the bytes 00 00 FF FF at the end are left out, which the peer
    ///     puts back. Default: true.
    ///   - output: the deflated bytes are appended.
    /// - Returns: whether it could be done; false when memory is short, with nothing appended.
    package func deflate(_ input: RawSpan, isLast: Bool = true, into output: inout [UInt8]) -> Bool {
        if input.isEmpty {
            // RFC 7692 section 7.2.3.6: the beginning of an empty block, whose rest is what was left out.
            if isLast { output.append(0) }
        } else {
            guard let engine = pool.deflating(settings.engineLevel) else { return false }
            engine.begin(window: window.bytes, windowBits: settings.windowBits, isShort: true)
            engine.deflate(input, .sync, into: &output)
            if isLast { output.removeLast(Self.endCount) }
        }
        if keepsContext || !isLast { window.append(input) } else { window.clear() }
        return true
    }

    /// Takes a message as sent that was deflated elsewhere without reference to others.
    package func follow(_ message: RawSpan) {
        if keepsContext { window.append(message) }
    }

    /// Forgets what came before: the next message refers to nothing before it.
    package func reset() {
        window.clear()
    }

    /// Gives back its memory, and forgets what came before.
    package func rest() {
        window.clear()
    }
}

/// The last bytes that a connection has sent compressed, at most as many as its window has.
struct DeflateWindow {
    private(set) var bytes: [UInt8] = []
    private let size: Int

    /// An empty one.
    ///
    /// - Parameter bits: its exponent.
    init(bits: Int) {
        size = 1 << bits
    }

    /// Takes what was sent.
    mutating func append(_ sent: RawSpan) {
        let count = min(sent.byteCount, size)
        let surplus = bytes.count + count - size
        if surplus > 0 { bytes.removeFirst(surplus) }
        // Grown as it fills, and never beyond its size.
        if bytes.capacity < bytes.count + count {
            bytes.reserveCapacity(min(size, max(2 * bytes.count, bytes.count + count)))
        }
        bytes.append(sent.extracting(last: count))
    }

    /// Forgets all, and gives back its memory.
    mutating func clear() {
        bytes = []
    }
}
