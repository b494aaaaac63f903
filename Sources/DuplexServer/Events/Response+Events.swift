// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

extension Request {
    /// The id of the last event that the client of an event stream has seen before it reconnected; `nil` for a new one.
    ///
    /// WHATWG HTML section 9.2.4.
    public var lastEventID: String? {
        fields[.lastEventID].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension Response {
    /// Tells an `EventSource` that it shouldn't reconnect: 204 (WHATWG HTML section 9.2).
    ///
    /// For a step before an event stream: a client requests a stream that has ended again.
    ///
    /// ```swift
    /// server.events("/jobs/:id", .before { request in jobs.isDone(request) ? .endOfEvents : nil }) { stream in … }
    /// ```
    public static var endOfEvents: Response { Response(status: .noContent) }

    /// The head of an event stream.
    ///
    /// - Throws: ``Problem`` with 406 when the client takes no event stream.
    static func events(_ request: Request, _ body: ResponseBody) throws -> Response {
        guard request.accepted.weight(of: .eventStream) > 0 else {
            throw Problem(.notAcceptable, "This path answers with an event stream (text/event-stream).")
        }
        return Response(type: "text/event-stream; charset=utf-8", fields: eventFields, body: body)
    }

    private static let eventFields: HTTPFields = [
        // What has no end isn't kept, nor put through a compressor that keeps it back.
        .cacheControl: "no-store, no-transform",
        // nginx would gather it.
        .xAccelBuffering: "no",
    ]
}
