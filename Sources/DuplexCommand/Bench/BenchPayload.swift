// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The messages of one connection: a number that distinguishes them, then bytes that no other connection has.
struct BenchPayload: Sendable {
    /// Why an echo isn't what was sent.
    enum Mismatch: Error, Equatable {
        case kind
        case length(Int)
        case order(expected: UInt64, got: UInt64)
        case content
    }

    let kind: Message.Kind
    /// One message; only its number changes from one to the next.
    private var bytes: [UInt8]
    private let numberSize: Int

    /// Makes the messages.
    ///
    /// - Parameters:
    ///   - size: of each, in bytes. Below 8 (binary) or 16 (text) only the lower part of the number has room.
    ///   - kind: text or binary; text is made of letters and digits.
    ///   - seed: which bytes they are made of.
    init(size: Int, kind: Message.Kind, seed: UInt64) {
        self.kind = kind
        numberSize = min(size, kind == .text ? 16 : 8)
        var generator = SeededGenerator(seed: seed)
        switch kind {
        case .binary: bytes = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        case .text: bytes = (0..<size).map { _ in UInt8.random(in: 0x61...0x7A, using: &generator) }
        }
    }

    /// Calls `body` with the message of that number.
    mutating func withMessage<Result>(_ number: UInt64, _ body: (RawSpan) -> Result) -> Result {
        write(number)
        return body(bytes.span.raw)
    }

    /// The message of that number, to be kept.
    mutating func message(_ number: UInt64) -> Message {
        write(number)
        return kind == .text ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes)
    }

    /// Compares an echo with the message of that number: kind, length, number and every byte.
    ///
    /// - Returns: what differs; `nil` when nothing does.
    mutating func mismatch(_ echo: RawSpan, _ echoKind: Message.Kind, expected number: UInt64) -> Mismatch? {
        if echoKind != kind { return .kind }
        if echo.byteCount != bytes.count { return .length(echo.byteCount) }
        write(number)
        if isEqual(echo) { return nil }
        let got = readNumber(echo)
        return got == readNumber(bytes.span.raw) ? .content : .order(expected: number, got: got)
    }

    private mutating func write(_ number: UInt64) {
        for index in 0..<numberSize { bytes[index] = digit(index, of: number) }
    }

    /// Least significant digit first: bytes in binary, hexadecimal digits (`a` to `p`) in text.
    private func digit(_ index: Int, of number: UInt64) -> UInt8 {
        kind == .text
            ? UInt8(ascii: "a") + UInt8(truncatingIfNeeded: number >> (4 * UInt64(index))) & 0xF
            : UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))
    }

    private func readNumber(_ message: RawSpan) -> UInt64 {
        (0..<numberSize).reduce(0) { number, index in
            let byte = unsafe message.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            return kind == .text
                ? number | UInt64((byte &- UInt8(ascii: "a")) & 0xF) << (4 * UInt64(index))
                : number | UInt64(byte) << (8 * UInt64(index))
        }
    }

    private func isEqual(_ echo: RawSpan) -> Bool {
        let count = bytes.count
        if count == 0 { return true }
        // Both have `count` bytes, and neither pointer outlives the call.
        return unsafe echo.withUnsafeBytes { left in
            unsafe bytes.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return false }
                return unsafe memcmp(left, right, count) == 0
            }
        }
    }
}

extension BenchPayload.Mismatch: CustomStringConvertible {
    var description: String {
        switch self {
        case .kind: "An echo came back as the other kind of message."
        case .length(let count): "An echo came back with \(count) bytes."
        case .order(let expected, let got): "Instead of echo \(expected) came echo \(got)."
        case .content: "An echo came back with other bytes."
        }
    }
}
