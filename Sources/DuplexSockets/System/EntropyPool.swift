// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// Random numbers from the system, fetched many at a time: a client needs one for each frame (RFC 6455 section 10.3),
/// and a system call for each would cost more than the frame.
package final class EntropyPool {
    private static let capacity = 256
    private var numbers = [UInt32](repeating: 0, count: capacity)
    private var used = capacity

    package init() {}

    /// A number that nobody can predict from the ones before it.
    package func next() -> UInt32 {
        if used == Self.capacity { refill() }
        defer { used += 1 }
        // Forgotten once it is handed out, so that a later look at the memory reveals nothing.
        let number = numbers[used]
        numbers[used] = 0
        return number
    }

    /// That many random bytes.
    package func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            unsafe withUnsafeBytes(of: next()) { unsafe bytes.append(contentsOf: $0.prefix(count - bytes.count)) }
        }
        return bytes
    }

    private func refill() {
        let size = Self.capacity * MemoryLayout<UInt32>.size
        #if canImport(Glibc)
        // Up to 256 bytes come whole; more may come in parts, or be interrupted by a signal (getrandom(2)).
        unsafe numbers.withUnsafeMutableBytes { raw in
            var filled = 0
            while filled < size {
                let count = SystemCall.random.move(size - filled) {
                    unsafe getrandom(raw.baseAddress?.advanced(by: filled), $0, 0)
                }
                precondition(count > 0 || errno == EINTR, "The system has no random numbers: errno \(errno)")
                filled += max(0, count)
            }
        }
        #else
        unsafe numbers.withUnsafeMutableBytes { unsafe arc4random_buf($0.baseAddress, size) }
        #endif
        used = 0
    }
}
