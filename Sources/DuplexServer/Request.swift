// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
public import HTTPTypes

/// A request, with its whole body.
public struct Request: Sendable {
    /// The request line and the fields.
    public let head: RequestHead
    /// What the parameters of the route's path stood for, percent-decoded: `name` for `/hello/:name`.
    public internal(set) var parameters: [String: String]
    /// The body; at most `Limits.bodySize`.
    public let body: [UInt8]
    /// The address of the peer.
    public let remoteAddress: SocketAddress?

    /// The method, such as GET.
    public var method: HTTPRequest.Method { head.method }
    /// The path as it was sent, without the query.
    public var path: String { head.path }
    /// The query as it was sent, without the question mark; `nil` where there is none.
    public var query: String? { head.query }
    /// The fields.
    public var fields: HTTPFields { head.fields }
}
