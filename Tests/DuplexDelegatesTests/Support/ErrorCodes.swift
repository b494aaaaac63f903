// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import Testing

/// The code of the socket error that the body throws; `nil` when it throws none, or another kind.
func errorCode(_ body: () async throws -> Void) async -> SocketError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? SocketError)?.code
    }
}

/// Expects a WebSocket error of the body.
func expect<Result>(
    _ code: WebSocketError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Result
) async {
    await #expect(sourceLocation: sourceLocation) {
        _ = try await body()
    } throws: {
        ($0 as? WebSocketError)?.code == code
    }
}
