// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The code of the error that the body throws; `nil` when it throws none, or another kind.
func errorCode(_ body: () async throws -> Void) async -> SocketError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? SocketError)?.code
    }
}
