// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets

/// A synchronous handler that is given the request of each connection: the parameters of the path, the query, the fields.
///
/// What it needs of the request while the connection lasts it keeps itself, in the value that ``handler(for:)`` makes for
/// each connection.
public protocol RequestedHandler: WebSocketHandler {
    /// What handles the connection that a request opens.
    associatedtype ConnectionHandler: WebSocketHandler

    /// Makes the handler of a connection; called on its loop, before the first message.
    func handler(for request: Request) -> ConnectionHandler
}

extension WebSocketRoute {
    /// A route whose connections are handled synchronously.
    init(_ handler: some WebSocketHandler) {
        self = Self.requested(handler) ?? .handler(HandlerBox.make(handler))
    }

    private static func requested(_ handler: any WebSocketHandler) -> WebSocketRoute? {
        guard let handler = handler as? any RequestedHandler else { return nil }
        return open(handler)
    }

    private static func open(_ handler: some RequestedHandler) -> WebSocketRoute {
        .handlerForRequest { request in HandlerBox.make(handler.handler(for: request)) }
    }
}
