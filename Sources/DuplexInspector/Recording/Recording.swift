// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What was recorded: requests, and WebSockets with their frames.
struct Recording: Sendable, Equatable {
    var exchanges: [RecordedExchange] = []
    var connections: [RecordedConnection] = []
}
