// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
public import DuplexWire
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension ReconnectingWebSocket {
    /// Makes a client; it connects when it is used.
    ///
    /// - Parameters:
    ///   - urls: where to connect to, the preferred one first; one at least.
    ///   - policy: when to connect again, where to, and when to give up.
    ///   - options: how to connect, and what to keep.
    ///   - group: the loops of which one becomes the client's.
    public init(
        urls: [URL],
        policy: ReconnectPolicy = .standard,
        options: ReconnectOptions = ReconnectOptions(),
        on group: EventLoopGroup = .shared
    ) {
        self.init(urls: urls.map(\.absoluteString), policy: policy, options: options, on: group)
    }

    /// Makes a client whose attempts use the URL, the header fields and the timeout of a request; see
    /// `WebSocketOptions.apply(_:)`.
    ///
    /// - Parameters:
    ///   - request: a GET request without a body.
    ///   - policy: when to connect again, and when to give up.
    ///   - options: everything else. What the request says takes precedence over `connection`.
    ///   - group: the loops of which one becomes the client's.
    /// - Throws: as `WebSocketOptions.apply(_:)`.
    public init(
        request: URLRequest,
        policy: ReconnectPolicy = .standard,
        options: ReconnectOptions = ReconnectOptions(),
        on group: EventLoopGroup = .shared
    ) throws {
        var options = options
        let url = try options.connection.apply(request)
        self.init(urls: [url], policy: policy, options: options, on: group)
    }
}
