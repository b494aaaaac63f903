// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
public import HTTPTypes

/// A request: its head, whole, and its body, which comes while the handler runs.
public struct Request: Sendable {
    /// The request line and the fields.
    public let head: RequestHead
    /// What the parameters of the route's path stood for, percent-decoded: `name` for `/hello/:name`.
    public internal(set) var parameters: PathParameters
    /// The body, in pieces as they come, or whole by ``RequestBody/collect(upTo:)``; a handler may leave it.
    public let body: RequestBody
    /// Who sent it.
    public let client: Client

    init(head: RequestHead, parameters: PathParameters = PathParameters(), body: RequestBody = .none, client: Client) {
        self.head = head
        self.parameters = parameters
        self.body = body
        self.client = client
    }

    /// A value that goes with the request, and all copies of it; `nil` until somebody has set it.
    public subscript<Key: RequestKey>(key: Key.Type) -> Key.Value? {
        get { head[attachment: ObjectIdentifier(key)] as? Key.Value }
        nonmutating set { head[attachment: ObjectIdentifier(key)] = newValue }
    }

    /// The method, such as GET.
    public var method: HTTPRequest.Method { head.method }
    /// The path as it was sent, without the query.
    public var path: String { head.path }
    /// The query as it was sent, without the question mark; `nil` where there is none.
    public var query: String? { head.query }
    /// The fields.
    public var fields: HTTPFields { head.fields }
    /// The address of the peer.
    public var remoteAddress: SocketAddress? { client.remoteAddress }
    /// What secures the connection, with the certificates that the client has shown; `nil` in the clear.
    public var tls: TLSConnection? { client.tls }
    /// Which process sent it, where it came by a Unix socket; see ``Client/peerCredentials``.
    public var peerCredentials: PeerCredentials? { client.peerCredentials }
}
