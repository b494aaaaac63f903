// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// An event stream to one client, which the handler of its route sends events on; see `RouteBuilder.events`.
///
/// Any task may send, on any executor; events go out in the order of the calls.
public struct EventStream: Sendable {
    /// The request that asked for the stream.
    public let request: Request
    package let outlet: EventOutlet

    init(_ request: Request, _ outlet: EventOutlet) {
        self.request = request
        self.outlet = outlet
    }

    /// The id of the last event that the client has seen before it reconnected; `nil` for a new one.
    public var lastEventID: String? { request.lastEventID }

    /// How many events were dropped, or replaced by newer ones, because the client was behind.
    public var dropped: Int {
        get async { await outlet.dropped }
    }

    /// Sends an event; see ``send(_:)``.
    ///
    /// - Parameters:
    ///   - data: the text; any, of any number of lines.
    ///   - event: the type that a page listens for. Default: `message`.
    ///   - id: what the client names when it reconnects. Default: none.
    ///   - retry: how long the client is to wait before it reconnects. Default: as before.
    /// - Throws: `EventStreamError` with `invalidField` when the type or the id has a line end or U+0000; else as
    ///   ``send(_:)``.
    public func send(
        _ data: String,
        event: String? = nil,
        id: String? = nil,
        retry: Duration? = nil
    ) async throws {
        try await send(ServerSentEvent(data, event: event, id: id, retry: retry))
    }

    /// Sends an event.
    ///
    /// Returns once the connection has taken it. For a slow client, with 64 KiB or more unsent, the policy of the route
    /// decides whether the call waits, or what is dropped.
    ///
    /// - Parameter event: the event.
    /// - Throws: `CancellationError` when the client has disconnected or the task is cancelled; `EventStreamError` with
    ///   `slowReader` when the policy has ended the client.
    public func send(_ event: ServerSentEvent) async throws {
        try await outlet.send(event)
    }

    /// Sends a comment, which keeps the stream alive at proxies; none to a slow client.
    ///
    /// - Parameter text: any text, which no page sees. Default: none.
    /// - Throws: as ``send(_:)``.
    public func comment(_ text: String = "") async throws {
        try await outlet.comment(text)
    }
}
