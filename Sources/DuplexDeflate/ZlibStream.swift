// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexZlib

// What says `unsafe` here: zlib is called with memory that is lent for the length of a call.

/// One of zlib's streams in one direction, with its memory.
@safe final class ZlibStream {
    /// What stands around the deflated bytes.
    enum Format: Hashable {
        /// Nothing (RFC 1951).
        case raw
        /// A header of two bytes, and a checksum (RFC 1950).
        case zlib
        /// A header, a checksum and the length (RFC 1952).
        case gzip

        /// A window in this format, as zlib takes it (zlib.h, inflateInit2).
        fileprivate func parameter(_ windowBits: Int) -> Int32 {
            switch self {
            case .raw: Int32(-windowBits)
            case .zlib: Int32(windowBits)
            case .gzip: Int32(windowBits + 16)
            }
        }
    }

    /// What a stream does, and with how much memory.
    enum Kind: Hashable {
        case deflating(level: Int, windowBits: Int, memoryLevel: Int, format: Format = .raw)
        case inflating(windowBits: Int, format: Format = .raw)
    }

    /// What a deflating stream does behind the input that it is given.
    enum Flush {
        /// Gives so much that the peer can inflate all of it.
        case sync
        /// Waits for more, and gives what it has enough of.
        case none
        /// Ends.
        case finish
    }

    /// How a call ended.
    enum Status {
        /// All of the input is taken, and all that it gives is written.
        case inputTaken
        /// There was no more room; there may be more to write.
        case outputFull
        /// The last block of the stream has ended; there may be input behind it.
        case ended
        /// The input isn't deflate, or refers to what lies before its window.
        case corrupt
    }

    // zlib's state points back to this, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// What it was made as.
    let kind: Kind
    private let isDeflating: Bool

    /// Makes a stream; `nil` without memory for it, or with numbers that zlib doesn't take.
    init?(_ kind: Kind) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        self.kind = kind
        let result: Int32
        switch kind {
        case .deflating(let level, let windowBits, let memoryLevel, let format):
            isDeflating = true
            let window = format.parameter(windowBits)
            result = unsafe cduplex_deflate_init(stream, Int32(level), window, Int32(memoryLevel))
        case .inflating(let windowBits, let format):
            isDeflating = false
            result = unsafe cduplex_inflate_init(stream, format.parameter(windowBits))
        }
        if result != Z_OK { return nil }
    }

    deinit {
        // Of a stream that couldn't be made zlib has no state, and says so.
        _ = unsafe isDeflating ? deflateEnd(stream) : inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Has zlib take input from `position` on, and appends what it gives.
    ///
    /// Where a deflating stream flushes, at least seven bytes of room keep it from doing so again and again (zlib.h,
    /// deflate).
    ///
    /// - Parameters:
    ///   - input: the bytes to take.
    ///   - position: where to begin; moved behind what was taken.
    ///   - output: what zlib gives is appended to it.
    ///   - room: the most bytes to append.
    ///   - flush: what a deflating stream does behind the input. Default: it flushes, so that the peer can inflate all.
    /// - Returns: how the call ended.
    func run(
        _ input: RawSpan,
        from position: inout Int,
        into output: inout [UInt8],
        upTo room: Int,
        flush: Flush = .sync
    ) -> Status {
        let room = UInt32(clamping: room)
        var status = Status.corrupt
        // Without room nothing would be taken of the empty array, which is one for all threads, but its count would be written.
        output.append(addingCapacity: max(Int(room), 1)) { span in
            unsafe span.withUnsafeMutableBufferPointer { target, count in
                // The span may have more room than was asked for; zlib gets what was.
                status = unsafe run(input, &position, target.baseAddress, room, flush)
                count += unsafe Int(room - stream.pointee.avail_out)
                unsafe stream.pointee.next_out = nil
            }
        }
        return status
    }

    private func run(
        _ input: RawSpan,
        _ position: inout Int,
        _ target: UnsafeMutablePointer<UInt8>?,
        _ room: UInt32,
        _ flush: Flush
    ) -> Status {
        let rest = input.extracting(position..<input.byteCount)
        let result = unsafe rest.withUnsafeBytes { source in
            let count = UInt32(clamping: source.count)
            unsafe stream.pointee.next_in = source.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.avail_in = count
            unsafe stream.pointee.next_out = target
            unsafe stream.pointee.avail_out = room
            let result = unsafe isDeflating ? deflate(stream, flush.parameter) : inflate(stream, Z_SYNC_FLUSH)
            position += unsafe Int(count - stream.pointee.avail_in)
            unsafe stream.pointee.next_in = nil
            return result
        }
        switch result {
        case Z_STREAM_END: return .ended
        // Z_BUF_ERROR says that nothing could be done, which is no error (zlib.h).
        case Z_OK, Z_BUF_ERROR:
            return unsafe stream.pointee.avail_out == 0 || position < input.byteCount ? .outputFull : .inputTaken
        default: return .corrupt
        }
    }

    /// Whether an inflating stream stands between two blocks, and not within one (zlib.h, inflate: `data_type`).
    var isBetweenBlocks: Bool { unsafe stream.pointee.data_type & 128 != 0 }

    /// Forgets all that was said, as a new stream.
    func reset() {
        _ = unsafe isDeflating ? deflateReset(stream) : inflateReset(stream)
    }

    /// Has an inflating stream that has ended begin again, with its window as it is.
    func beginAgain() {
        _ = unsafe inflateResetKeep(stream)
    }
}

extension ZlibStream.Flush {
    fileprivate var parameter: Int32 {
        switch self {
        case .sync: Z_SYNC_FLUSH
        case .none: Z_NO_FLUSH
        case .finish: Z_FINISH
        }
    }
}

/// A checksum by zlib, as zip has it: CRC-32 of ISO 3309.
package struct CRC32: Sendable, Hashable {
    /// That of all bytes so far.
    package private(set) var value: UInt32 = 0

    /// Begins with no bytes.
    package init() {}

    /// Adds the bytes that follow.
    package mutating func add(_ bytes: RawSpan) {
        // `unsafe`: lent for the length of the call, with its length.
        value = unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return value }
            return UInt32(
                truncatingIfNeeded: unsafe crc32_z(
                    UInt(value),
                    start.assumingMemoryBound(to: UInt8.self),
                    bytes.count
                )
            )
        }
    }
}
