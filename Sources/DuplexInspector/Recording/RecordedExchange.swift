// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// A request and its response as they were recorded.
struct RecordedExchange: Sendable, Equatable {
    /// Its number in the recording.
    var id: UInt64
    /// When its first byte came or was sent, in seconds since 1970.
    var began: Double
    /// Whether the recorded side is the client.
    var isClient = false
    /// Who is at the other end of the connection.
    var peer: SocketAddress?
    /// Where it came in, or what it was sent from.
    var local: SocketAddress?
    var client: SocketAddress? { isClient ? local : peer }
    var server: SocketAddress? { isClient ? peer : local }
    /// The route that answered it, as the app wrote it.
    var route: String?
    var method: String
    /// The whole URL; with scheme and host where those are known.
    var url: String
    /// Such as `HTTP/1.1`.
    var version: String = "HTTP/1.1"
    var requestFields = HTTPFields()
    var requestBody = RecordedBytes()
    /// The status of the response; 0 where there was none.
    var status: Int = 0
    var reason: String = ""
    var responseFields = HTTPFields()
    var responseBody = RecordedBytes()
    var durations = Durations()
    /// Why it failed, for people; `nil` where it didn't.
    var error: String?

    /// How long its parts took, in seconds, each after the one before; `nil` for what isn't known.
    struct Durations: Sendable, Equatable {
        /// From the first byte of the request to its whole head.
        var head: Double?
        /// From there to the response's head.
        var handler: Double?
        /// From there to the last byte of the response.
        var sending: Double?

        /// The sum of what is known.
        var total: Double { (head ?? 0) + (handler ?? 0) + (sending ?? 0) }
    }

    init(id: UInt64, began: Double, method: String, url: String) {
        self.id = id
        self.began = began
        self.method = method
        self.url = url
    }
}
