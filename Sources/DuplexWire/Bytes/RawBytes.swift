// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The one file of this module that says `unsafe`: loads, copies and masking over whole words. Each function checks its
// bound before it touches memory, so that everything above is safe by construction.

extension RawSpan {
    /// The byte at an offset; traps outside the span.
    @inlinable @inline(__always)
    package func byte(at offset: Int) -> UInt8 {
        // `unsafeLoad` checks the bound itself; a byte is valid whatever it holds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The two bytes from an offset on as a big-endian number; traps outside the span.
    @inline(__always)
    func half(at offset: Int) -> UInt16 {
        // Bound checked by the load, which needs no alignment; any two bytes are a number.
        unsafe UInt16(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// The eight bytes from an offset on as a big-endian number; traps outside the span.
    @inline(__always)
    func bigEndianWord(at offset: Int) -> UInt64 {
        // Bound checked by the load, which needs no alignment; any eight bytes are a number.
        unsafe UInt64(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The four bytes from an offset on in the order in which they lie in memory; traps outside the span.
    @inline(__always)
    func key(at offset: Int) -> UInt32 {
        // Bound checked by the load, which needs no alignment; any four bytes are a number.
        unsafe UInt32(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The eight bytes from an offset on as a number whose lowest byte comes first; traps outside the span.
    @inline(__always)
    func littleEndianWord(at offset: Int) -> UInt64 {
        // Bound checked by the load, which needs no alignment; any eight bytes are a number.
        unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Whether the 32 bytes from an offset on are ASCII; traps outside the span.
    @inline(__always)
    func isASCIIBlock(at offset: Int) -> Bool {
        // Bound checked by the load, which needs no alignment; any bytes are four numbers.
        let block = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
        return (block[0] | block[1] | block[2] | block[3]) & 0x8080_8080_8080_8080 == 0
    }
}

extension Array where Element == UInt8 {
    /// The bytes that `body` writes, up to `capacity` of them.
    package init(room capacity: Int, _ body: (inout OutputRawSpan) -> Void) {
        // Without room it would be the empty array, which is one for all threads, and its count would be written.
        unsafe self.init(unsafeUninitializedCapacity: Swift.max(capacity, 1)) { memory, count in
            // The span says how much of the memory it has initialised, and nothing else writes to it meanwhile.
            let raw = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[..<capacity])
            var output = unsafe OutputRawSpan(buffer: raw, initializedCount: 0)
            body(&output)
            count = unsafe output.finalize(for: raw)
        }
    }
}

extension Array where Element == UInt8 {
    /// Lends the bytes to `body`, which may change them.
    mutating func withRawSpan<Result>(_ body: (inout MutableRawSpan) -> Result) -> Result {
        var span = mutableSpan
        // A byte is valid whatever is written to it.
        var raw = unsafe span.mutableBytes
        return body(&raw)
    }
}

extension OutputRawSpan {
    /// Masks the last `count` bytes that were written (RFC 6455 section 5.3); traps when there are fewer.
    mutating func maskLast(_ count: Int, with key: UInt32) {
        precondition(count >= 0 && count <= byteCount, "There are fewer bytes than are to be masked.")
        unsafe withUnsafeMutableBytes { target, written in
            unsafe Masking.apply(key, to: UnsafeMutableRawBufferPointer(rebasing: target[(written - count)..<written]))
        }
    }
}

extension MutableRawSpan {
    /// Masks or unmasks a range in place (RFC 6455 section 5.3); traps when it lies outside the span.
    mutating func mask(_ range: Range<Int>, with key: UInt32) {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "A range lies outside its span.")
        unsafe withUnsafeMutableBytes {
            unsafe Masking.apply(key, to: UnsafeMutableRawBufferPointer(rebasing: $0[range]))
        }
    }
}

/// The masking transformation (RFC 6455 section 5.3): each byte is combined with one of the key's four, in turn.
enum Masking {
    /// The key as it stands after that many bytes.
    static func rotated(_ key: UInt32, by count: Int) -> UInt32 {
        let shift = UInt32(truncatingIfNeeded: (count & 3) * 8)
        return shift == 0 ? key : (key >> shift) | (key << (32 - shift))
    }

    /// Applies the key, its lowest byte to the first byte.
    ///
    /// Doing it twice is doing nothing.
    fileprivate static func apply(_ key: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        let count = bytes.count
        let word = (UInt64(key) << 32 | UInt64(key)).littleEndian
        var index = 0
        if count >= 64 {
            let block = SIMD8<UInt64>(repeating: word)
            // Each step touches 64 bytes and begins at most at `count - 64`.
            while index <= count - 64 {
                let masked = unsafe (base + index).loadUnaligned(as: SIMD8<UInt64>.self) ^ block
                unsafe (base + index).storeBytes(of: masked, as: SIMD8<UInt64>.self)
                index += 64
            }
        }
        // Steps of 16 bytes; they begin at most at `count - 16`.
        while index <= count - 16 {
            let masked = unsafe (base + index).loadUnaligned(as: SIMD2<UInt64>.self) ^ SIMD2(repeating: word)
            unsafe (base + index).storeBytes(of: masked, as: SIMD2<UInt64>.self)
            index += 16
        }
        // And one of eight; it begins at most at `count - 8`.
        if index <= count - 8 {
            let masked = unsafe (base + index).loadUnaligned(as: UInt64.self) ^ word
            unsafe (base + index).storeBytes(of: masked, as: UInt64.self)
            index += 8
        }
        var rest = key
        while index < count {
            unsafe bytes[index] ^= UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            if (index + 1) & 3 == 0 { rest = key }
            index += 1
        }
    }
}
