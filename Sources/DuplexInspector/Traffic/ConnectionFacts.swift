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

    /// As the page gets it; what isn't known is left out.
    struct Shown: Codable, Hashable, Sendable {
        struct RoundTrips: Codable, Hashable, Sendable {
            var count: Int
            /// In seconds, as are the others.
            var last: Double?
            var least: Double?
            var median: Double?
            var p99: Double?
        }

        var id: String
        var kind: String
        var client: Bool
        var state: String
        var peer: String?
        var local: String?
        var place: String?
        var security: String?
        var subprotocol: String?
        var compression: String?
        var age: Double?
        var messagesIn: Int?
        var messagesOut: Int?
        var bytesIn: Int?
        var bytesOut: Int?
        var queued: Int?
        var inbox: Int?
        var dropped: Int?
        var roundTrips: RoundTrips?
        var note: String?
    }

    var shown: Shown {
        Shown(
            id: id,
            kind: kind.rawValue,
            client: isClient,
            state: state,
            peer: peer?.description,
            local: local?.description,
            place: place,
            security: security,
            subprotocol: subprotocol,
            compression: compression,
            age: age,
            messagesIn: messagesIn,
            messagesOut: messagesOut,
            bytesIn: bytesIn.map { Int(clamping: $0) },
            bytesOut: bytesOut.map { Int(clamping: $0) },
            queued: queuedBytes,
            inbox: inboxMessages,
            dropped: droppedMessages,
            roundTrips: latency.flatMap(Self.roundTrips),
            note: note
        )
    }

    private static func roundTrips(_ latency: Latency) -> Shown.RoundTrips? {
        guard latency.count > 0 else { return nil }
        return Shown.RoundTrips(
            count: latency.count,
            last: latency.last?.inSeconds,
            least: latency.minimum?.inSeconds,
            median: latency.percentile(50)?.inSeconds,
            p99: latency.percentile(99)?.inSeconds
        )
    }
}

extension Duration {
    /// In seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension RecordedConnection {
    /// A connection of this process, with the frames that were seen of it.
    ///
    /// - Parameters:
    ///   - facts: what was known of it when it was first watched.
    ///   - snapshot: what it is now; nil where it has gone.
    ///   - ring: its frames.
    init(_ facts: ConnectionFacts, _ snapshot: WebSocketSnapshot?, _ ring: LiveRing<RecordedFrame>) {
        let isSecure = facts.security != nil
        self.init(
            id: UInt64(facts.id.drop { !$0.isNumber }) ?? 0,
            isClient: facts.isClient,
            url: Self.url(of: facts, isSecure: isSecure),
            isSecure: isSecure,
            began: facts.seen - (facts.age ?? 0)
        )
        local = facts.local
        remote = facts.peer
        subprotocol = facts.subprotocol
        frames = ring.all
        lostFrames = frames.first?.number ?? 0
        if let snapshot, let closed = snapshot.timeline.closed {
            ended = Date().timeIntervalSince1970 - closed.duration(to: snapshot.taken).inSeconds
            closeCode = snapshot.closeReport.code.rawValue
            closeReason = snapshot.closeReport.received?.reason ?? snapshot.closeReport.sent?.reason
        }
    }

    /// Of a server's connection the route is known, in the place of the path that was asked for.
    private static func url(of facts: ConnectionFacts, isSecure: Bool) -> String {
        let place = facts.place ?? ""
        if facts.isClient { return place }
        let path = place.split(separator: " ", maxSplits: 1).last.map(String.init) ?? "/"
        return "\(isSecure ? "wss" : "ws")://\(facts.local.map { "\($0)" } ?? "localhost")\(path)"
    }
}
