// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Synchronization

/// Sends every message to all connections, the one that it came from among them, framed once.
///
/// A connection that doesn't take what it is sent is left out until it does.
final class BroadcastHandler: WebSocketHandler {
    /// How many bytes may wait for a connection.
    private static let mostQueued = 64 * 1_024

    /// The connections of one loop; touched on its thread only.
    ///
    /// In the order in which they came, more or less: what belongs to neighbours lies together, here and in the system,
    /// and with thousands of them that is what a broadcast costs.
    private final class Members {
        private(set) var sockets: [WebSocket] = []
        private var places: [ObjectIdentifier: Int] = [:]

        func insert(_ socket: WebSocket) {
            places[ObjectIdentifier(socket)] = sockets.count
            sockets.append(socket)
        }

        func remove(_ socket: WebSocket) {
            guard let place = places.removeValue(forKey: ObjectIdentifier(socket)) else { return }
            let last = sockets.removeLast()
            guard last !== socket else { return }
            sockets[place] = last
            places[ObjectIdentifier(last)] = place
        }
    }

    /// The connections of each loop that has some.
    private let loops = Mutex<[ObjectIdentifier: (loop: EventLoop, members: LoopBound<Members>)]>([:])

    func opened(_ socket: isolated WebSocket) {
        members(of: socket.loop).value.insert(socket)
    }

    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        let message = PreparedMessage(bytes, kind)
        for (loop, members) in loops.withLock({ Array($0.values) }) {
            loop.execute { _ in Self.send(message, to: members.value) }
        }
    }

    func closed(_ socket: isolated WebSocket, _ report: CloseReport) {
        members(of: socket.loop).value.remove(socket)
    }

    private static func send(_ message: PreparedMessage, to members: Members) {
        for socket in members.sockets {
            socket.assumeIsolated { socket in
                if socket.queuedBytes < Self.mostQueued { _ = socket.enqueue(message) }
            }
        }
    }

    private func members(of loop: EventLoop) -> LoopBound<Members> {
        loops.withLock { loops in
            if let known = loops[ObjectIdentifier(loop)] { return known.members }
            let members = LoopBound(Members(), on: loop.thread)
            loops[ObjectIdentifier(loop)] = (loop, members)
            return members
        }
    }
}
