// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

/// A body, or a part of a form, as a file on disk, which is removed with the last copy of this value unless it is kept.
///
/// Only the user that the server runs as may read it. It is written by threads of its own, so that a slow disk holds up its
/// client, and no other.
///
/// Hazard: what ends the process leaves the file behind, as `.duplex-` and a name that nobody can guess.
public struct ReceivedFile: Sendable {
    /// How many bytes it has.
    public let size: Int
    private let file: TemporaryFile

    /// Where it is; where it was kept, once it is.
    public var path: String { file.path }

    /// How much is handed to a thread at once.
    private static let writeSize = 256 * 1_024

    /// Moves it to a path of its own: from then on it isn't removed.
    ///
    /// On the file system of the folder that it was received in; one that is to be kept is best received in the folder that it
    /// is kept in.
    ///
    /// - Parameters:
    ///   - path: the path; a relative one is below the process's working directory.
    ///   - replaces: whether a file at that path is replaced. Default: false.
    /// - Throws: `SocketError` with `fileExists` where there is a file of that name, with `otherFileSystem`, and with `system` for
    ///   other reasons; it names both paths, and is still where it was.
    public func move(to path: String, replacing replaces: Bool = false) async throws {
        try await BlockingThreads.files.runToEnd { [file] () throws(SocketError) in
            try file.keep(as: path, replacing: replaces)
        }
    }

    /// Writes pieces to a new file, up to their end.
    ///
    /// - Parameters:
    ///   - folder: where it is made; nil for the system's.
    ///   - limit: the most bytes that are taken.
    ///   - isolation: where the pieces are asked for.
    ///   - next: the next piece.
    /// - Throws: `HTTPProtocolError` with 413 beyond the limit; `SocketError` of the disk; what `next` throws.
    init(
        in folder: String?,
        limit: ByteCount,
        isolation: isolated (any Actor)? = #isolation,
        next: () async throws -> [UInt8]?
    ) async throws {
        let file = try await BlockingThreads.files.runToEnd { () throws(SocketError) in try TemporaryFile(in: folder) }
        var size = 0
        var waiting: [UInt8] = []
        while let piece = try await next() {
            guard piece.count <= limit.bytes - size else {
                throw HTTPProtocolError(.bodyTooLarge, "what was sent is longer than \(limit)")
            }
            size += piece.count
            if waiting.isEmpty { waiting = piece } else { waiting += piece }
            if waiting.count < Self.writeSize { continue }
            try await Self.write(waiting, to: file)
            waiting = []
        }
        try await Self.write(waiting, to: file)
        try await BlockingThreads.files.runToEnd { () throws(SocketError) in try file.close() }
        self.size = size
        self.file = file
    }

    private static func write(_ bytes: [UInt8], to file: TemporaryFile) async throws {
        try await BlockingThreads.files.runToEnd { () throws(SocketError) in try file.write(bytes) }
    }
}

extension Request {
    /// The body as a file on disk, which is removed with the last copy of what this returns, unless it is kept.
    ///
    /// ```swift
    /// server.post("/images/:name", .bodySize(.gibibytes(1))) { request in
    ///     let file = try await request.file(in: "images")
    ///     try await file.move(to: "images/\(try name(request))")
    ///     return Response(.created)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - folder: where it is made. Default: the system's folder for such files (`TMPDIR`, or `/tmp`).
    ///   - limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the file, whole.
    /// - Throws: `HTTPProtocolError` with 413 beyond the limit; `SocketError` when the disk takes no more, answered with 507 where it is
    ///   full and with 500 otherwise; else as ``RequestBody/AsyncIterator/next()``.
    public func file(in folder: String? = nil, limit: ByteCount = .unlimited) async throws -> ReceivedFile {
        var pieces = body.makeAsyncIterator()
        return try await ReceivedFile(in: folder, limit: limit) { try await pieces.next() }
    }
}

extension MultipartPart {
    /// The content of the part as a file on disk; see ``Request/file(in:limit:)``.
    ///
    /// - Parameters:
    ///   - folder: where it is made. Default: the system's folder for such files (`TMPDIR`, or `/tmp`).
    ///   - limit: the most bytes that are taken. Default: what the route and the form's limits allow.
    /// - Returns: the file, whole.
    /// - Throws: as ``Request/file(in:limit:)``, and as ``MultipartForm/AsyncIterator/next()``.
    public func file(in folder: String? = nil, limit: ByteCount = .unlimited) async throws -> ReceivedFile {
        var pieces = makeAsyncIterator()
        return try await ReceivedFile(in: folder, limit: limit) { try await pieces.next() }
    }
}
