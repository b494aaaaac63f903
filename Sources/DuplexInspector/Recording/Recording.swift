// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// What was recorded: requests, and WebSockets with their frames.
struct Recording: Sendable, Equatable {
    var exchanges: [RecordedExchange] = []
    var connections: [RecordedConnection] = []

    /// About how many bytes it holds.
    var size: Int {
        exchanges.reduce(0) { $0 + $1.size } + connections.reduce(0) { $0 + $1.frames.size }
    }
}

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
    var requestHeaders = HTTPFields()
    var requestBody = RecordedBytes()
    /// The status of the response; 0 where there was none.
    var status: Int = 0
    var reason: String = ""
    var responseHeaders = HTTPFields()
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

    /// About how many bytes it holds.
    var size: Int { 1_024 + requestBody.bytes.count + responseBody.bytes.count }
}

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
    var requestHeaders = HTTPFields()
    /// The fields of the response with status 101.
    var responseHeaders = HTTPFields()
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

/// A frame as it was recorded: what it carried, unmasked and inflated where that was known.
struct RecordedFrame: Sendable, Equatable {
    /// Its place among all frames of the connection, from 0.
    var number: UInt64
    /// When it was sent or had come whole, in seconds since 1970.
    var time: Double
    /// Whether the recorded side sent it.
    var isOutgoing: Bool
    var opcode: Opcode
    /// Whether it ends its message.
    var isFinal: Bool
    /// Whether its message was compressed (RFC 7692).
    var isCompressed: Bool
    /// How many bytes it had on the wire, its header with them.
    var wireLength: UInt64
    /// What it carried; its first bytes only, where it was long.
    var payload: RecordedBytes

    init(
        number: UInt64,
        time: Double,
        isOutgoing: Bool,
        opcode: Opcode,
        isFinal: Bool = true,
        isCompressed: Bool = false,
        wireLength: UInt64,
        payload: RecordedBytes
    ) {
        self.number = number
        self.time = time
        self.isOutgoing = isOutgoing
        self.opcode = opcode
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.wireLength = wireLength
        self.payload = payload
    }
}

extension Sequence<RecordedFrame> {
    /// About how many bytes they hold.
    var size: Int { reduce(0) { $0 + 128 + $1.payload.bytes.count } }
}

/// The bytes of a body or a payload that were kept, and how many there were.
struct RecordedBytes: Sendable, Equatable {
    /// The first of them.
    var bytes: [UInt8] = []
    /// How many there were.
    var size: UInt64 = 0
    /// Whether they are as they went over the wire, compressed: nobody finds anything in them, nor do secrets show.
    var isCoded = false

    /// Whether not all were kept.
    var isCut: Bool { size > UInt64(bytes.count) }

    /// None.
    init() {}

    /// Keeps all.
    init(_ bytes: [UInt8]) {
        self.init(bytes, of: UInt64(bytes.count))
    }

    /// Keeps the first bytes of some.
    ///
    /// - Parameters:
    ///   - bytes: the first.
    ///   - size: how many there were; never fewer than those.
    init(_ bytes: [UInt8], of size: UInt64) {
        self.bytes = bytes
        self.size = max(size, UInt64(bytes.count))
    }
}

/// Puts the fragments of messages together, in both directions of one connection.
struct MessageAssembly: Sendable {
    private var unfinished: [Bool: RecordedFrame] = [:]

    init() {}

    /// Takes the next frame.
    ///
    /// - Parameter frame: in the order of the connection.
    /// - Returns: the message that it ends, as one frame with the number of its first and the time of its last; the
    ///   frame itself where it is a control frame, or belongs to a message whose beginning is gone; `nil` while more is to come.
    mutating func add(_ frame: RecordedFrame) -> RecordedFrame? {
        if frame.opcode.isControl { return frame }
        guard frame.opcode == .continuation, var whole = unfinished.removeValue(forKey: frame.isOutgoing) else {
            if frame.isFinal || frame.opcode == .continuation { return frame }
            unfinished[frame.isOutgoing] = frame
            return nil
        }
        let size = whole.payload.size + frame.payload.size
        // Behind a cut there is nothing that could be joined to.
        let bytes = whole.payload.isCut ? whole.payload.bytes : whole.payload.bytes + frame.payload.bytes
        whole.payload = RecordedBytes(bytes, of: size)
        whole.wireLength += frame.wireLength
        whole.time = frame.time
        whole.isFinal = frame.isFinal
        if frame.isFinal { return whole }
        unfinished[frame.isOutgoing] = whole
        return nil
    }
}
