// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexISAL

/// ISA-L's deflate at one level with its memory, 80 to 420 KiB: what one event loop has.
@safe final class DeflateEngine {
    /// What is done behind the input.
    enum Flush {
        /// Gives so much that the peer can inflate all of it.
        case sync
        /// Waits for more, and gives what it has enough of.
        case none
        /// Ends.
        case finish
    }

    private let state: OpaquePointer

    /// Makes an engine; nil without memory for it.
    ///
    /// - Parameter level: from 0 to 3.
    init?(level: Int) {
        guard let state = unsafe cduplex_deflater_new(Int32(level)) else { return nil }
        unsafe self.state = state
    }

    deinit {
        unsafe cduplex_deflater_free(state)
    }

    /// Begins a stream.
    ///
    /// - Parameters:
    ///   - window: what it may refer to.
    ///   - windowBits: the exponent of the window: 8 to 15; references reach less far than that.
    ///   - isShort: whether little comes; at level 0 the codes are then those of the standard, which nothing describes.
    func begin(window: [UInt8], windowBits: Int, isShort: Bool) {
        // Lent for the length of the call, which copies it.
        unsafe window.withUnsafeBufferPointer { window in
            unsafe cduplex_deflater_begin(state, Int32(windowBits), isShort ? 1 : 0, window.baseAddress, window.count)
        }
    }

    /// Deflates a piece of the stream that was begun, and appends the result.
    func deflate(_ input: RawSpan, _ flush: Flush, into output: inout [UInt8]) {
        var left = input.byteCount
        var isDone = false
        while !isDone {
            let rest = input.extracting(droppingFirst: input.byteCount - left)
            output.append(addingCapacity: min(max(left, 64) + 64, Self.pieceSize)) { span in
                // Lent for the length of the call, with their lengths.
                unsafe rest.withUnsafeBytes { source in
                    unsafe span.withUnsafeMutableBufferPointer { target, count in
                        var room = target.count - count
                        let start = unsafe target.baseAddress.map { unsafe $0 + count }
                        let bytes = unsafe source.baseAddress?.assumingMemoryBound(to: UInt8.self)
                        let result = unsafe cduplex_deflater_run(state, bytes, &left, start, &room, flush.parameter)
                        isDone = result != 0
                        count = target.count - room
                    }
                }
            }
        }
    }

    /// The most room that is given at once.
    private static let pieceSize = 64 * 1_024
}

extension DeflateEngine.Flush {
    fileprivate var parameter: Int32 {
        switch self {
        case .sync: Int32(CDUPLEX_FLUSH)
        case .none: Int32(CDUPLEX_MORE_FOLLOWS)
        case .finish: Int32(CDUPLEX_END)
        }
    }
}
