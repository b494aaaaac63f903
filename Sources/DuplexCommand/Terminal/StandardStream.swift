// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Standard output or standard error: a descriptor that others may have too, and that is read slowly, or never.
final class StandardStream: Sendable {
    /// Whether it is a terminal.
    let isTerminal: Bool
    private let descriptor: Int32
    /// Whether the process is about to end, and waits no longer than ``patience`` for somebody to read.
    private let isInHurry = Atomic<Bool>(false)
    /// Whether that wait was in vain.
    private let isGivenUp = Atomic<Bool>(false)
    /// Held for a whole write, so that lines of several tasks stay apart.
    private let pen = Mutex<Void>(())
    /// The first error that wasn't tolerated.
    private let loss: Mutex<Loss>
    private let whenLost: @Sendable () -> Void

    /// Which errors of writing matter, and the first of them.
    private struct Loss {
        var tolerated: Set<Int32>
        var error: Int32?

        /// Returns whether this is the first error that matters.
        mutating func add(_ code: Int32) -> Bool {
            if error != nil || tolerated.contains(code) { return false }
            error = code
            return true
        }
    }

    /// What a pipe that has any room takes at once (`PIPE_BUF`): a blocking write of more might wait for its reader.
    private static let pieceSize = 4_096
    /// How often a wait for room looks whether the process is about to end.
    private static let lookInterval: Int32 = 200
    /// How long the end of the process waits for room, in milliseconds.
    private static let patience: Int32 = 1_000

    /// Makes the stream of a descriptor, which stays its owner's.
    ///
    /// - Parameters:
    ///   - descriptor: Where to write.
    ///   - tolerated: Error numbers of writes that don't count as a loss. Default: every error is a loss.
    ///   - whenLost: Called after the first loss, and once. Default: nothing is called.
    init(_ descriptor: Int32, tolerating tolerated: Set<Int32> = [], whenLost: @escaping @Sendable () -> Void = {}) {
        self.descriptor = descriptor
        self.whenLost = whenLost
        loss = Mutex(Loss(tolerated: tolerated))
        isTerminal = isatty(descriptor) == 1
    }

    /// The error number of the first write that failed: `EBADF` for a descriptor that isn't open for writing, `EPIPE` if
    /// the reader is gone, `ETIMEDOUT` if the end of the process waited for the reader in vain; `nil` if none failed.
    var lossError: Int32? { loss.withLock { $0.error } }

    /// From now on these error numbers of writes don't count as a loss either.
    func tolerate(_ codes: Set<Int32>) {
        loss.withLock { $0.tolerated.formUnion(codes) }
    }

    /// Whether both go to the same terminal, pipe or file, where the order of their lines is seen.
    func isSame(as other: StandardStream) -> Bool {
        var (own, others) = (stat(), stat())
        guard unsafe fstat(descriptor, &own) == 0, unsafe fstat(other.descriptor, &others) == 0 else { return false }
        return own.st_dev == others.st_dev && own.st_ino == others.st_ino
    }

    /// From now on a write waits a second for somebody to read, and then no more: the process is about to end.
    func hurry() {
        isInHurry.store(true, ordering: .relaxed)
    }

    /// Writes all of it, and waits for room as long as that takes.
    ///
    /// - Returns: Whether all was written; if not, ``lossError`` says why.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        guard let error = pen.withLock({ _ in writeAll(bytes) }) else { return true }
        if loss.withLock({ $0.add(error) }) { whenLost() }
        return false
    }

    /// Returns the error number; `nil` if all was written.
    private func writeAll(_ bytes: [UInt8]) -> Int32? {
        var position = 0
        while position < bytes.count {
            guard waitForRoom() else { return descriptor < 0 ? EBADF : ETIMEDOUT }
            let end = min(position + Self.pieceSize, bytes.count)
            let count = unsafe bytes[position..<end].withUnsafeBytes { buffer in
                unsafe systemWrite(descriptor, buffer.baseAddress, buffer.count)
            }
            if count > 0 {
                position += count
            } else if count == 0 {
                return EIO
            } else if errno != EINTR && errno != EAGAIN {
                return errno
            }
        }
        return nil
    }

    /// Waits until a write of a piece doesn't block.
    ///
    /// The descriptor can't be made non-blocking for that: it is that of every process which has the same terminal.
    private func waitForRoom() -> Bool {
        // poll(2) passes over what isn't a descriptor.
        guard descriptor >= 0 else { return false }
        while true {
            let isLast = isInHurry.load(ordering: .relaxed)
            let wait = isGivenUp.load(ordering: .relaxed) ? 0 : isLast ? Self.patience : Self.lookInterval
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let count = unsafe poll(&request, 1, wait)
            if count > 0 || (count < 0 && errno != EINTR) { return true }
            if count == 0 && isLast {
                isGivenUp.store(true, ordering: .relaxed)
                return false
            }
        }
    }
}

/// `write(2)`, whose name the method above hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
