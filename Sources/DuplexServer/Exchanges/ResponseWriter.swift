// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// Writes the body of a response while it is made.
///
/// Any task may write, on any executor; pieces go out in the order of the calls.
public struct ResponseWriter: Sendable {
    let exchange: Exchange

    /// Writes a piece.
    ///
    /// Returns once the connection has taken it, and waits while more than 64 KiB are unsent to a slow client. Even for
    /// a fast client it waits a moment every 1 MiB, so that others on the loop have their turn.
    ///
    /// - Parameter bytes: the piece; an empty one does nothing.
    /// - Throws: `CancellationError` when the client has disconnected or the task is cancelled; `HTTPError` with
    ///   `wrongLength` when the body is longer than announced.
    public func write(_ bytes: [UInt8]) async throws {
        try await exchange.write(bytes)
    }

    /// Writes a piece of text in UTF-8; as bytes are.
    public func write(_ text: String) async throws {
        try await exchange.write(Array(text.utf8))
    }

    /// Sets fields to send after the body, if it goes in chunks (RFC 9110 section 6.5).
    public func setTrailers(_ fields: HTTPFields) async {
        await exchange.setTrailers(fields)
    }
}
