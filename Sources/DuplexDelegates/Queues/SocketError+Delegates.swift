// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

// What delegates get.

extension SocketError {
    /// The error itself; for a task that was cancelled, that this side has closed.
    init(ending error: any Error) {
        self = error as? SocketError ?? SocketError(.closed, message: "The connection was closed on this side.")
    }

    /// What is refused because too much waits.
    static func queueFull(_ waiting: Int, _ more: Int, _ limit: ByteCount) -> SocketError {
        SocketError(.limitExceeded, message: "\(waiting) bytes wait, and \(more) more are beyond \(limit.bytes).")
    }
}
