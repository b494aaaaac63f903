// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Cuts what a descriptor delivers into lines, and checks that they are UTF-8.
struct LineSplitter {
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    /// How far the bytes have been handed out, and how far they are known to have no line end.
    private var start = 0
    private var scanned = 0
    private var number = 0
    private var hasEnded = false

    private static let chunkSize = 64 * 1_024

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Waits for the next line and takes its line feed off; `nil` at the end of the file.
    ///
    /// A last line without a line feed is a line too.
    /// - Throws: ``Failure`` for a line that isn't UTF-8, and when the descriptor can't be read.
    mutating func next() throws -> String? {
        while true {
            if let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
                return try take(until: end, next: end + 1)
            }
            scanned = bytes.count
            if hasEnded { return start < bytes.count ? try take(until: bytes.count, next: bytes.count) : nil }
            try read()
        }
    }

    private mutating func take(until end: Int, next: Int) throws -> String {
        number += 1
        let line = String(validating: bytes[start..<end], as: UTF8.self)
        start = next
        scanned = next
        guard let line else {
            throw Failure(.failure, "Line \(number) of the input isn't UTF-8, so it can't be sent as text.")
        }
        return line
    }

    private mutating func read() throws {
        bytes.removeFirst(start)
        scanned -= start
        start = 0
        var chunk = [UInt8](repeating: 0, count: Self.chunkSize)
        let count = unsafe chunk.withUnsafeMutableBytes { buffer in
            unsafe systemRead(descriptor, buffer.baseAddress, buffer.count)
        }
        if count > 0 {
            bytes += chunk[..<count]
        } else if count == 0 {
            hasEnded = true
        } else if errno == EAGAIN {
            waitUntilReadable()
        } else if errno != EINTR {
            throw Failure(.failure, "The input can't be read (errno \(errno)).")
        }
    }

    /// Another process that has the same terminal may have made it non-blocking.
    private func waitUntilReadable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&request, 1, -1)
    }
}

/// `read(2)`, whose name the method above hides.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, bytes, count)
}
