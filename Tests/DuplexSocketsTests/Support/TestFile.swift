// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Glibc
import Testing

@testable import DuplexSockets

/// A file of a test, removed afterwards.
struct TestFile {
    let path: String
    let descriptor: Int32

    /// Makes a file, runs `body` with it, and removes it.
    static func with(_ bytes: [UInt8], _ body: (TestFile) async throws -> Void) async throws {
        let path = "/tmp/duplex-test-\(UInt64.random(in: 0 ... .max))"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer {
            SystemCalls.close(descriptor)
            _ = unsafe unlink(path)
        }
        var written = 0
        while written < bytes.count {
            written += unsafe bytes[written...].withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        }
        try await body(TestFile(path: path, descriptor: descriptor))
    }

    #if os(Linux)
    /// How many descriptors of this process are open on the file, that of the test among them.
    var openCount: Int {
        let folder = "/proc/self/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.count { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")) == path
        }
    }
    #endif

    /// Makes a file of so many zeros that no connection's buffers hold it.
    static func withLarge(_ body: (TestFile, UInt64) async throws -> Void) async throws {
        try await with([]) { file in
            let size = 64 * 1_024 * 1_024
            try #require(ftruncate(file.descriptor, size) == 0)
            try await body(file, UInt64(size))
        }
    }

    /// Bytes that show when some are missing, doubled or moved: they repeat after a prime number only.
    static func pattern(_ count: Int) -> [UInt8] {
        let block = (0..<1_021).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 3) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        while bytes.count < count { bytes += block }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
