// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// A WebSocket as it was recorded, with its frames.
struct RecordedConnection: Sendable, Equatable {
    /// Its number in the recording.
    var id: UInt64
    /// Whether the recorded side is the client.
    var isClient: Bool
    /// The whole URL, such as `wss://example.com/chat?room=1`.
    var url: String
    var local: SocketAddress?
    var remote: SocketAddress?
    var client: SocketAddress? { isClient ? local : remote }
    var server: SocketAddress? { isClient ? remote : local }
    /// Whether it went over TLS.
    var isSecure: Bool
    var subprotocol: String?
    /// The fields of the request that opened it.
    var requestFields = HTTPFields()
    /// The fields of the response with status 101.
    var responseFields = HTTPFields()
    /// When its handshake began, in seconds since 1970.
    var began: Double
    /// When it was over; `nil` while it is open.
    var ended: Double?
    /// The code that it was closed with (RFC 6455 section 7.4).
    var closeCode: UInt16?
    var closeReason: String?
    /// In their order; the first may be gone.
    var frames: [RecordedFrame] = []
    /// How many frames were dropped before the first.
    var lostFrames: UInt64 = 0
    /// Errors that the recorder noted.
    var errors: [Fault] = []

    /// An error of the connection.
    struct Fault: Sendable, Equatable {
        /// When, in seconds since 1970.
        var time: Double
        var message: String
    }

    init(id: UInt64, isClient: Bool, url: String, isSecure: Bool, began: Double) {
        self.id = id
        self.isClient = isClient
        self.url = url
        self.isSecure = isSecure
        self.began = began
    }
}
