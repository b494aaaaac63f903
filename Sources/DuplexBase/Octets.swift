// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The one file of this module that says `unsafe`: bytes as spans of numbers and back, and copies of them. Inlinable, since
// every message passes here from other modules.

extension Span where Element == UInt8 {
    /// The same bytes as a raw span.
    @inlinable
    package var raw: RawSpan {
        @_lifetime(copy self)
        @inline(__always)
        get {
            // Bytes have no padding, so none of them is uninitialised, which is what makes `bytes` unsafe in general.
            unsafe bytes
        }
    }
}

extension RawSpan {
    /// Lends the bytes as a span of numbers, which is what parsers take.
    @inlinable
    package func withOctets<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        // Every byte is a valid number, bytes need no alignment, and the span ends with the call.
        unsafe withUnsafeBytes { unsafe body(Span(_unsafeBytes: $0)) }
    }
}

extension OutputRawSpan {
    /// Appends a copy of the bytes; traps when there is no room for them.
    @inlinable
    package mutating func append(_ bytes: RawSpan) {
        // An array without elements is one for all threads, and appending nothing would write its count.
        if bytes.isEmpty { return }
        precondition(bytes.byteCount <= freeCapacity, "An output span is too small for what is written to it.")
        // Within the room that was just checked, and for the length of the call.
        unsafe withUnsafeMutableBytes { target, count in
            unsafe bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyMemory(from: source)
            }
            count += bytes.byteCount
        }
    }
}

extension Array where Element == UInt8 {
    /// The bytes of the span in an array of their own.
    @inlinable
    package init(copying bytes: RawSpan) {
        // The closure neither keeps the pointer nor reads past the span.
        self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }

    /// Appends a copy of the bytes of the span.
    @inlinable
    package mutating func append(_ bytes: RawSpan) {
        // An array without elements is one for all threads, and appending nothing would write its count.
        if bytes.isEmpty { return }
        // As a sequence of bytes it would cost three times as much where there are few.
        append(addingCapacity: bytes.byteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { target, count in
                unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawBufferPointer(target).copyMemory(from: $0) }
                count = bytes.byteCount
            }
        }
    }

    /// Appends the text in UTF-8.
    ///
    /// As a sequence it would be asked for its count and copied through a buffer of its own.
    @inlinable
    package mutating func append(utf8 text: String) {
        append(text.utf8.span.raw)
    }

    /// Appends a number that isn't negative in decimal digits.
    package mutating func append(decimal number: Int) {
        // Most have up to four digits, and dividing by what isn't known takes long.
        if number < 10_000 {
            if number >= 1_000 { append(0x30 + UInt8(number / 1_000)) }
            if number >= 100 { append(0x30 + UInt8(number / 100 % 10)) }
            if number >= 10 { append(0x30 + UInt8(number / 10 % 10)) }
            append(0x30 + UInt8(number % 10))
            return
        }
        append(decimal: number / 10_000)
        let rest = number % 10_000
        append(0x30 + UInt8(rest / 1_000))
        append(0x30 + UInt8(rest / 100 % 10))
        append(0x30 + UInt8(rest / 10 % 10))
        append(0x30 + UInt8(rest % 10))
    }
}
