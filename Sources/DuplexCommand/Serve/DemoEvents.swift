// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer

/// The events of `duplex serve`: a count that goes on where the client has lost it.
///
/// Each stream ends after some events, so that clients show how they come back: a browser by itself, with the id of the last event.
struct DemoEvents: Sendable {
    /// The time from one event to the next.
    var interval = Duration.milliseconds(500)
    /// How many events a stream has.
    var count = 10

    /// What a client may name as the last event: others begin anew.
    private static let numbers = 0..<1_000_000_000

    /// Sends the events of one stream; see `RouteBuilder.events`.
    ///
    /// The data is the number of the event, and the id that the client has come back with: `{"number":11,"after":"10"}`.
    func send(on stream: EventStream) async throws {
        let last = stream.lastEventID.flatMap { Int($0) }.flatMap { Self.numbers.contains($0) ? $0 : nil } ?? 0
        for number in (last + 1)...(last + count) {
            if number > last + 1 { try await Task.sleep(for: interval) }
            let after = last == 0 ? "null" : "\"\(last)\""
            try await stream.send("{\"number\":\(number),\"after\":\(after)}", event: "tick", id: "\(number)")
        }
    }
}
