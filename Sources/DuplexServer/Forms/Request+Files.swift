// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

extension Request {
    /// The body as a file on disk, which is removed with the last copy of what this returns, unless it is kept.
    ///
    /// ```swift
    /// server.post("/images/:name", .bodySize(.gibibytes(1))) { request in
    ///     let file = try await request.file(in: "images")
    ///     try await file.keep(as: "images/\(try name(request))")
    ///     return HTTPResponse.Status.created
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - folder: where it is made. Default: the system's folder for such files (`TMPDIR`, or `/tmp`).
    ///   - limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the file, whole.
    /// - Throws: `HTTPError` with 413 beyond the limit; `SocketError` when the disk takes no more, answered with 507 where it is
    ///   full and with 500 otherwise; else as ``RequestBody/AsyncIterator/next()``.
    public func file(in folder: String? = nil, upTo limit: ByteCount = .unlimited) async throws -> ReceivedFile {
        var pieces = body.makeAsyncIterator()
        return try await ReceivedFile(in: folder, upTo: limit) { try await pieces.next() }
    }
}

extension MultipartPart {
    /// The content of the part as a file on disk; see ``Request/file(in:upTo:)``.
    ///
    /// - Parameters:
    ///   - folder: where it is made. Default: the system's folder for such files (`TMPDIR`, or `/tmp`).
    ///   - limit: the most bytes that are taken. Default: what the route and the form's limits allow.
    /// - Returns: the file, whole.
    /// - Throws: as ``Request/file(in:upTo:)``, and as ``MultipartForm/AsyncIterator/next()``.
    public func file(in folder: String? = nil, upTo limit: ByteCount = .unlimited) async throws -> ReceivedFile {
        var pieces = makeAsyncIterator()
        return try await ReceivedFile(in: folder, upTo: limit) { try await pieces.next() }
    }
}
