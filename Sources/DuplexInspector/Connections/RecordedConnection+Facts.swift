// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Foundation

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
