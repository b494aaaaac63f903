// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

// What a loop reports of its connections; all on the loop.

extension ServerLoop {
    var counts: ServerCounts {
        let state = state.value
        return ServerCounts(
            connections: state.connections.count,
            webSockets: state.openWebSockets,
            requests: state.services?.requests ?? state.requests
        )
    }

    func currentConnections(upTo limit: Int) -> [ServerConnection] {
        let now = loop.core.now
        let connections = state.value.connections.prefix(limit).map { tell($0, now) }
        let left = state.value.webSockets.values.prefix(limit - connections.count)
        return connections + left.compactMap { served in served.socket.map { tell($0, served, now) } }
    }

    private func tell(_ connection: HTTPConnection, _ now: Instant) -> ServerConnection {
        let bound = LoopBound(connection, on: loop.thread)
        return ServerConnection(
            kind: .http,
            remoteAddress: connection.client.remoteAddress,
            route: route(of: connection),
            age: connection.accepted.duration(to: now),
            request: connection.progress(now: now),
            client: connection.client,
            queuedBytes: connection.channel.queuedBytes,
            isPushing: connection.isPushing,
            droppedEvents: connection.droppedPieces
        ) { [loop] isInOrder in
            loop.execute { _ in
                guard isInOrder else { return bound.value.abort() }
                bound.value.stop()
                bound.value.endPushing()
            }
        }
    }

    private func route(of connection: HTTPConnection) -> String? {
        if let present = connection.present { return present.route }
        // A response that is pushed has no task, and nothing else is noted of it.
        guard connection.isPushing, let route = connection.lastRoute else { return nil }
        return connection.services.name(of: route)
    }

    private func tell(_ socket: WebSocket, _ served: Served, _ now: Instant) -> ServerConnection {
        ServerConnection(
            kind: .webSocket(socket),
            remoteAddress: socket.remoteAddress,
            route: served.endpoint.name,
            age: served.accepted.duration(to: now),
            request: nil,
            client: nil,
            queuedBytes: 0,
            isPushing: false,
            droppedEvents: nil
        ) { [loop] isInOrder in
            loop.execute { _ in
                socket.assumeIsolated { socket in
                    guard !isInOrder else { return socket.beginClose(.goingAway) }
                    socket.cancelHandler()
                    socket.reset()
                }
            }
        }
    }
}
