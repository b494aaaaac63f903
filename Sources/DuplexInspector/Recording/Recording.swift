// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What was recorded: requests, and WebSockets with their frames.
struct Recording: Sendable, Equatable {
    var exchanges: [RecordedExchange] = []
    var connections: [RecordedConnection] = []

    /// About how many bytes it holds.
    var size: Int {
        exchanges.reduce(0) { $0 + $1.size } + connections.reduce(0) { $0 + $1.frames.size }
    }
}

extension RecordedExchange {
    /// About how many bytes it holds.
    var size: Int { 1_024 + requestBody.bytes.count + responseBody.bytes.count }
}

extension Sequence<RecordedFrame> {
    /// About how many bytes they hold.
    var size: Int { reduce(0) { $0 + 128 + $1.payload.bytes.count } }
}
