// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import Testing

/// The error of an attempt that must not come to anything.
func failure(
    of url: String,
    _ options: WebSocketOptions = WebSocketOptions(),
    at location: SourceLocation = #_sourceLocation
) async -> WebSocketError? {
    do {
        _ = try await WebSocket.connect(to: url, options: options)
        Issue.record("It came to a connection.", sourceLocation: location)
        return nil
    } catch let error as WebSocketError {
        return error
    } catch {
        Issue.record(error, sourceLocation: location)
        return nil
    }
}

/// The connections to a listener, which any task may take, one at a time.
struct Incoming: Sendable {
    let url: String
    let port: Int
    fileprivate let peers: AsyncStream<RawPeer>

    func callAsFunction() async throws -> RawPeer {
        for await peer in peers { return peer }
        throw CancellationError()
    }
}

/// Listens for the length of the body.
func withIncoming(_ body: (String, Incoming) async throws -> Void) async throws {
    try await inTurn {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let (peers, arrived) = AsyncStream<RawPeer>.makeStream()
        let accepting = Task {
            defer { arrived.finish() }
            for try await socket in listener { arrived.yield(RawPeer(socket, masks: false)) }
        }
        defer { accepting.cancel() }
        let url = "ws://\(listener.localAddress)/"
        try await body(url, Incoming(url: url, port: listener.localAddress.port, peers: peers))
    }
}
