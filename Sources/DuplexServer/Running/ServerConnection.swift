// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets

/// A connection of a running server, as it was when it was asked for; see ``RunningServer/connections``.
public struct ServerConnection: Sendable {
    /// What is spoken on it.
    public enum Kind: Sendable {
        /// Requests and responses.
        case http
        /// It has become a WebSocket.
        case webSocket(WebSocket)
    }

    /// What is spoken on it.
    public let kind: Kind
    /// The address of the peer, or of the one that a proxy speaks for.
    public let remoteAddress: SocketAddress?
    /// The route that is answering, such as `GET /users/:id` or `WebSocket /chat`; nil between two requests.
    public let route: String?
    /// How long the connection had been open.
    public let age: Duration
    /// How far the present request has come.
    ///
    /// `nil` between two requests, on a WebSocket, and where nothing counts: a route needs ``RouteOption/completed(_:)``, an
    /// access log or metrics.
    package let request: RequestProgress?

    /// Who is at its other end, and by what listener: one of its own; nil once it has become a WebSocket.
    package let client: Request.Connection?
    /// The bytes that are written and not sent yet; of HTTP.
    package let queuedBytes: Int

    /// Whether its response goes on until somebody ends it, as one of events does.
    package let isPushing: Bool

    /// How many events were dropped because the client was behind; nil but for a stream of events.
    package let droppedEvents: Int?

    let end: @Sendable (_ isInOrder: Bool) -> Void

    /// Ends it in order: after the response to the present request, or by a closing handshake with 1001.
    ///
    /// A stream of events comes to its end.
    /// Returns at once. Does nothing to a connection that has ended.
    public func close() { end(true) }

    /// Resets it at once; its handler is cancelled.
    ///
    /// Returns at once. Does nothing to a connection that has ended.
    public func reset() { end(false) }
}

/// The numbers of a server's connections and requests; see ``RunningServer/counts``.
public struct ServerCounts: Sendable, Hashable {
    /// The connections that speak HTTP now.
    public var connections = 0
    /// The WebSockets that are open now.
    public var webSockets = 0
    /// The requests since the start, also those that were refused.
    public var requests: UInt64 = 0

    /// The counts of two loops together.
    static func + (one: ServerCounts, other: ServerCounts) -> ServerCounts {
        var sum = one
        sum.connections += other.connections
        sum.webSockets += other.webSockets
        sum.requests += other.requests
        return sum
    }
}
