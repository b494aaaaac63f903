// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem
import DuplexSockets
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads what the process writes to its standard streams, on a thread for each, while it is passed on.
///
/// There is one at a time in a process.
final class StreamCapture: Sendable {
    typealias Taking = @Sendable (ConsoleEntry.Kind, [LineAssembler.Line]) -> Void

    /// How long a line may lack its end before it is shown.
    private static let patience: Int32 = 1_000
    /// How long the end waits for what was written before it.
    private static let endLimit = 2_000

    private static let isTaken = Atomic(false)

    private let captures: [Int32]

    /// Leads the streams into pipes.
    ///
    /// - Parameter take: gets the lines of a stream, on the thread that reads it.
    /// - Throws: `SocketError`.
    init(_ take: @escaping Taking) throws(SocketError) {
        guard Self.isTaken.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else {
            throw SocketError(.system, message: "The streams of this process are captured already.", errno: EBUSY)
        }
        var captures: [Int32] = []
        do throws(SocketError) {
            let streams: [(ConsoleEntry.Kind, Int32, Int32)] =
                cduplex_capture_is_shared() ? [(.both, 1, 2)] : [(.output, 1, -1), (.error, 2, -1)]
            for (kind, stream, other) in streams {
                captures.append(try Self.begin(kind, stream, other, take))
            }
        } catch {
            for capture in captures { cduplex_capture_end(capture) }
            Self.isTaken.store(false, ordering: .relaxed)
            throw error
        }
        self.captures = captures
    }

    private static func begin(
        _ kind: ConsoleEntry.Kind,
        _ stream: Int32,
        _ other: Int32,
        _ take: @escaping Taking
    ) throws(SocketError) -> Int32 {
        let capture = cduplex_capture_begin(stream, other)
        guard capture >= 0 else {
            throw SocketError(.system, message: "The streams of this process can't be captured.", errno: errno)
        }
        do throws(SocketError) {
            try LoopThread(name: "duplex-console").start { read(capture, kind, take) }
        } catch {
            cduplex_capture_end(capture)
            cduplex_capture_close(capture)
            throw error
        }
        return capture
    }

    /// Has the streams lead to where they went before, and waits until what was written is there.
    func end() {
        for capture in captures { cduplex_capture_end(capture) }
        for capture in captures {
            for _ in 0..<Self.endLimit where !cduplex_capture_is_drained(capture) { usleep(1_000) }
        }
        Self.isTaken.store(false, ordering: .relaxed)
    }

    /// Reads until nobody can write any more: that is behind the end, and behind that of programs which have inherited it.
    private static func read(_ capture: Int32, _ kind: ConsoleEntry.Kind, _ take: Taking) {
        cduplex_capture_prepare_thread()
        var lines = LineAssembler()
        // Small, since bytes are seen once they are passed on: who takes none holds up as many.
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let timeout: Int32 = lines.isWaiting ? patience : -1
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe cduplex_capture_take(capture, bytes.baseAddress, bytes.count, timeout)
            }
            switch count {
            case 1...:
                take(kind, lines.take(buffer[..<count]))
                cduplex_capture_done(capture)
            case -1: if let line = lines.flush() { take(kind, [line]) }
            case 0:
                if let line = lines.finish() { take(kind, [line]) }
                cduplex_capture_close(capture)
                return
            // The process ends, and who ends it reads the rest.
            default: return
            }
        }
    }
}
