// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// Handles the messages of connections synchronously, on their loop, without a copy.
///
/// For those who need the last microsecond, and for code in the style of a delegate. One value serves all connections,
/// on several loops at once; what belongs to one connection is found through the socket. A method that blocks keeps
/// every connection of the loop waiting.
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
    func drained(_ socket: isolated WebSocket)

    /// The connection has ended; nothing follows.
    func closed(_ socket: isolated WebSocket, _ report: CloseReport)
}

/// Keeps a handler of any type at the price of one reference; opened in place, so that calling it copies nothing.
final class HandlerBox: Sendable {
    let handler: any WebSocketHandler

    init(_ handler: any WebSocketHandler) {
        self.handler = handler
    }
}

extension WebSocketHandler {
    public func opened(_ socket: isolated WebSocket) {}
    public func drained(_ socket: isolated WebSocket) {}
    public func closed(_ socket: isolated WebSocket, _ report: CloseReport) {}
}
