// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
import HTTPTypes

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

extension Request {
    /// The id of the last event that the client of an event stream has seen before it reconnected; `nil` for a new one.
    ///
    /// WHATWG HTML section 9.2.4.
    package var lastEventID: String? {
        headers[.lastEventID].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension Response {
    /// Tells an `EventSource` that it shouldn't reconnect: 204 (WHATWG HTML section 9.2).
    ///
    /// For middleware before an event stream: a client requests a stream that has ended again.
    ///
    /// ```swift
    /// server.events("/jobs/:id", .before { request in jobs.isDone(request) ? .endOfEvents : nil }) { stream in … }
    /// ```
    public static var endOfEvents: Response { Response(.noContent) }

    /// The head of an event stream.
    ///
    /// - Throws: ``Problem`` with 406 when the client takes no event stream.
    static func events(_ request: Request, _ body: ResponseBody) throws -> Response {
        guard request.accepted.weight(of: .eventStream) > 0 else {
            throw Problem(.notAcceptable, "This path answers with an event stream (text/event-stream).")
        }
        return Response(type: "text/event-stream; charset=utf-8", headers: eventFields, body: body)
    }

    private static let eventFields: HTTPFields = [
        // What has no end isn't kept, nor put through a compressor that keeps it back.
        .cacheControl: "no-store, no-transform",
        // nginx would gather it.
        .xAccelBuffering: "no",
    ]
}
