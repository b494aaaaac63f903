// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Foundation

/// A connection of the process as it was when it was looked at.
struct ConnectionFacts: Sendable {
    /// What is spoken on it.
    enum Kind: String, Sendable {
        case webSocket, http, events, stream, datagrams, reconnecting
    }

    /// Identifies it in the process, such as `ws-12`.
    var id: String
    var kind: Kind
    var isClient = false
    var state: String
    var peer: SocketAddress?
    var local: SocketAddress?
    /// The route that serves it, or the URL that it leads to.
    var place: String?
    /// What secures it, such as `TLS 1.3`.
    var security: String?
    var subprotocol: String?
    /// What was agreed on for compression.
    var compression: String?
    /// How long it has been there, in seconds.
    var age: Double?
    var messagesIn: Int?
    var messagesOut: Int?
    var bytesIn: UInt64?
    var bytesOut: UInt64?
    /// What is written and not sent yet.
    var queuedBytes: Int?
    /// What waits for the app.
    var inboxMessages: Int?
    /// How many messages were dropped because the client was behind; nil where nothing would be.
    var droppedMessages: Int?
    /// What round trips have shown.
    var latency: Latency?
    /// What happened until it was open.
    var timeline: WebSocketTimeline?
    /// What else there is to say.
    var note: String?
    /// When it was looked at, in seconds since 1970.
    let seen = Date().timeIntervalSince1970

    /// When it began, in tenths of a second since 1970, so that two looks agree.
    var beginning: Int { Int(((seen - (age ?? 0)) * 10).rounded()) }

    init(id: String, kind: Kind, state: String) {
        self.id = id
        self.kind = kind
        self.state = state
    }

    /// As the page gets it.
    var json: JSONText {
        var members = JSONText.Members()
        members.add("id", id)
        members.add("kind", kind.rawValue)
        members.add("client", isClient)
        members.add("state", state)
        members.add("peer", peer?.description)
        members.add("local", local?.description)
        members.add("place", place)
        members.add("security", security)
        members.add("subprotocol", subprotocol)
        members.add("compression", compression)
        members.add("age", age)
        members.add("messagesIn", messagesIn)
        members.add("messagesOut", messagesOut)
        members.add("bytesIn", bytesIn.map { .integer(Int64(clamping: $0)) })
        members.add("bytesOut", bytesOut.map { .integer(Int64(clamping: $0)) })
        members.add("queued", queuedBytes)
        members.add("inbox", inboxMessages)
        members.add("dropped", droppedMessages)
        members.add("roundTrips", latency.flatMap(Self.json))
        members.add("note", note)
        return .object(members.all)
    }

    private static func json(_ latency: Latency) -> JSONText? {
        guard latency.count > 0 else { return nil }
        var members = JSONText.Members()
        members.add("count", latency.count)
        members.add("last", latency.last?.inSeconds)
        members.add("least", latency.minimum?.inSeconds)
        members.add("median", latency.percentile(50)?.inSeconds)
        members.add("p99", latency.percentile(99)?.inSeconds)
        return .object(members.all)
    }
}

extension Duration {
    /// In seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
