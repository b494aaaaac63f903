// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

/// The WebSockets of a loop, and the handlers that run in tasks of their own; belongs to the loop's thread.
///
/// Each socket knows its place, so that an idle one takes no more than two references here.
struct ServedSockets {
    struct Served {
        let socket: WebSocket
        let endpoint: WebSocketEndpoint
    }

    /// The sockets whose connections haven't ended, in any order.
    private(set) var all: [Served] = []
    /// The endpoints of the handlers that run; a handler may outlive its connection.
    private(set) var handlers: [TaskIdentity: WebSocketEndpoint] = [:]

    mutating func add(_ socket: isolated WebSocket, _ endpoint: WebSocketEndpoint) {
        socket.place = Int32(all.count)
        all.append(Served(socket: socket, endpoint: endpoint))
    }

    /// Removes a socket that is here; the last one takes its place.
    mutating func remove(_ socket: isolated WebSocket) {
        let place = Int(socket.place)
        precondition(all[place].socket === socket, "A socket is removed once.")
        let last = all.removeLast()
        guard place < all.count else { return }
        all[place] = last
        last.socket.assumeIsolated { $0.place = Int32(place) }
    }

    /// The endpoint of a socket; `nil` for one that isn't here.
    func endpoint(of socket: isolated WebSocket) -> WebSocketEndpoint? {
        let place = Int(socket.place)
        return place < all.count && all[place].socket === socket ? all[place].endpoint : nil
    }

    // MARK: Handlers

    mutating func handlerBegan(_ task: TaskIdentity, _ endpoint: WebSocketEndpoint) { handlers[task] = endpoint }

    mutating func handlerEnded(_ task: TaskIdentity) { handlers[task] = nil }
}
