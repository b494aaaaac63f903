// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The socket error that `body` throws; `nil` when it throws none, or another.
func socketError(of body: () throws -> Void) -> SocketError? {
    do {
        try body()
        return nil
    } catch {
        return error as? SocketError
    }
}

/// The socket error that `body` throws; `nil` when it throws none, or another.
func asyncSocketError(of body: () async throws -> Void) async -> SocketError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? SocketError
    }
}
