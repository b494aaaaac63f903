// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

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

/// Expects a socket error of `body`.
///
/// For the closures of which there are several in a test: those in the arguments of `#expect` can be taken for one another.
///
/// - Parameters:
///   - code: the code that it must have, if one is named.
///   - errno: the error number that it must have, if one is named.
///   - sourceLocation: where the expectation is written.
///   - body: what must fail.
func expectSocketError(
    _ code: SocketError.Code? = nil,
    errno: Int32? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    of body: () async throws -> Void
) async {
    let error = await asyncSocketError(of: body)
    #expect(error != nil, sourceLocation: sourceLocation)
    if let code { #expect(error?.code == code, sourceLocation: sourceLocation) }
    if let errno { #expect(error?.errno == errno, sourceLocation: sourceLocation) }
}

/// Expects that a task ends because it was cancelled; without a closure, for the reason named above.
func expectCancelled(
    _ task: Task<some Sendable, any Error>,
    sourceLocation: SourceLocation = #_sourceLocation
) async {
    if case .failure(let error) = await task.result, error is CancellationError { return }
    Issue.record("The task wasn't ended by its cancellation.", sourceLocation: sourceLocation)
}
