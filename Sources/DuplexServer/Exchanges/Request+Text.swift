// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

extension Request {
    /// The body as text, by the charset of its media type; UTF-8 where none is named.
    ///
    /// For the bytes see ``RequestBody/collect(upTo:)``.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the text; an empty one where there is no body.
    /// - Throws: `HTTPError` with 415 for a charset that isn't known (`Charset`), with 400 for bytes that stand for no text in it,
    ///   with 413 beyond the limit; else as ``RequestBody/AsyncIterator/next()``.
    public func text(upTo limit: ByteCount = .unlimited) async throws -> String {
        let charset = try Charset(of: contentType)
        return try charset.decode(try await body.collect(upTo: limit))
    }
}
