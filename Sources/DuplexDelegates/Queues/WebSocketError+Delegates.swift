// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

// Why a delegated connection doesn't take what it is given.

extension WebSocketError {
    static func queueFull(_ waiting: Int, _ bytes: Int, _ limit: ByteCount) -> WebSocketError {
        let message = "\(waiting) bytes wait to be sent, and \(bytes) more are above the limit of \(limit)."
        return WebSocketError(.queueFull, message: message)
    }

    static func queueFull(_ limit: Int) -> WebSocketError {
        WebSocketError(.queueFull, message: "\(limit) messages and pings wait to be sent, and that is the limit.")
    }
}
