// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire

/// The last requests, as events for the demo page.
///
/// Everybody who sees the page sees them, so they have neither the address of a client nor the query.
struct DemoLog: Sendable {
    /// One event for each request, with JSON such as
    /// `{"method":"GET","path":"/","status":200,"microseconds":41,"bytes":5120}`.
    let feed = EventFeed(keeping: 100)

    /// The longest part of a path that is shown.
    private static let pathBound = 120

    /// Has the requests of a route be seen here.
    var option: RouteOption {
        .completed { [feed] request, outcome in
            let members = [
                JSONText.Member(name: "method", value: .string(request.method.rawValue)),
                JSONText.Member(name: "path", value: .string(String(request.path.prefix(Self.pathBound)))),
                JSONText.Member(name: "status", value: .integer(Int64(outcome.status?.code ?? 0))),
                JSONText.Member(name: "microseconds", value: .integer(outcome.duration.wholeNanoseconds / 1_000)),
                JSONText.Member(name: "bytes", value: .integer(Int64(outcome.sentBytes))),
            ]
            // A feed that is never finished takes every event whose type has no line end.
            _ = try? feed.publish(JSONText.object(members).text, event: "request")
        }
    }
}
