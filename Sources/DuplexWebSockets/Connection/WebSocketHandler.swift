// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// Handles the messages of connections synchronously, on their loop, without a copy.
///
/// For the lowest latency, and for code in the style of a delegate. One value serves all connections, on several loops
/// at once; find the state of a connection through the socket. A method that blocks delays every connection of the
/// loop.
public protocol WebSocketHandler: Sendable {
    /// The connection is open; nothing has been received yet.
    func opened(_ socket: isolated WebSocket)

    /// A whole message has arrived.
    ///
    /// - Parameters:
    ///   - bytes: the payload, valid during the call only; of a text it is UTF-8, checked.
    ///   - kind: text or binary.
    ///   - socket: the connection; answer with ``WebSocket/enqueue(_:_:)``.
    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket)

    /// What was enqueued above the high-water mark has mostly been sent: whoever held back may go on.
    func becameWritable(_ socket: isolated WebSocket)

    /// The connection has ended; nothing follows.
    func closed(_ socket: isolated WebSocket, _ report: CloseReport)
}

/// Keeps a handler of any type at the price of one reference, and calls it without opening an existential for each
/// message.
///
/// Made once for all connections of a path, as each of them has the same.
package class HandlerBox: @unchecked Sendable {
    // `@unchecked` because the class isn't final; it and its one subclass hold nothing but constants that are Sendable.

    /// In the place of a handler, where messages are for a task: it does nothing.
    ///
    /// An object rather than `nil`, since to look into an optional counts references, some thirty-five instructions for each
    /// receive.
    static let none = HandlerBox(isPresent: false)
    /// Whether there is a handler.
    let isPresent: Bool

    fileprivate init(isPresent: Bool) {
        self.isPresent = isPresent
    }

    package static func make(_ handler: some WebSocketHandler) -> HandlerBox {
        TypedHandlerBox(handler)
    }

    func opened(_ socket: isolated WebSocket) {}
    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {}
    func becameWritable(_ socket: isolated WebSocket) {}
    func closed(_ socket: isolated WebSocket, _ report: CloseReport) {}
}

private final class TypedHandlerBox<Handler: WebSocketHandler>: HandlerBox, @unchecked Sendable {
    private let handler: Handler

    init(_ handler: Handler) {
        self.handler = handler
        super.init(isPresent: true)
    }

    override func opened(_ socket: isolated WebSocket) {
        handler.opened(socket)
    }

    override func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        handler.received(bytes, kind, on: socket)
    }

    override func becameWritable(_ socket: isolated WebSocket) {
        handler.becameWritable(socket)
    }

    override func closed(_ socket: isolated WebSocket, _ report: CloseReport) {
        handler.closed(socket, report)
    }
}

extension WebSocketHandler {
    /// Does nothing.
    public func opened(_ socket: isolated WebSocket) {}
    /// Does nothing.
    public func becameWritable(_ socket: isolated WebSocket) {}
    /// Does nothing.
    public func closed(_ socket: isolated WebSocket, _ report: CloseReport) {}
}
