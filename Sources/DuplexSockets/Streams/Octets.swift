// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension RawSpan {
    /// The bytes as a span of numbers, which is what parsers take.
    package var octets: Span<UInt8> {
        @_lifetime(copy self)
        get {
            // Every byte is a valid number, and bytes need no alignment.
            unsafe Span(_unsafeBytes: self)
        }
    }
}

extension Array where Element == UInt8 {
    /// The bytes of the span in an array of their own.
    package init(copying bytes: RawSpan) {
        // The closure neither keeps the pointer nor reads past the span.
        self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
}
