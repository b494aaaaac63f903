// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import HTTPTypes

/// The body of a response: bytes, a part of a file, or what a task makes of it while the client reads.
public struct ResponseBody: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        case text(String)
        case file(ResponseFile)
        case writer(length: Int?, @Sendable (ResponseWriter) async throws -> Void)
        /// What is pushed without a task; called on the loop once the head has been written.
        case pushed(@Sendable (Exchange) -> Void)
        /// Any of the others, put into a coding when it is sent.
        case coded(CodedBody)
    }

    let content: Content

    /// No body.
    public static let none = ResponseBody(content: .bytes([]))

    /// These bytes.
    public static func bytes(_ bytes: [UInt8]) -> ResponseBody {
        ResponseBody(content: .bytes(bytes))
    }

    /// A text in UTF-8.
    public static func text(_ text: String) -> ResponseBody {
        ResponseBody(content: .text(text))
    }

    /// A part of a file, which the system moves to the connection by itself where it can (sendfile(2)).
    ///
    /// A file that is cut short while it is sent cuts the connection: nobody takes what came for the whole.
    ///
    /// - Parameters:
    ///   - path: of a regular file.
    ///   - offset: where the part begins. Default: the beginning of the file.
    ///   - count: its length. Default: up to the end that the file has now.
    /// - Returns: the body.
    /// - Throws: `SocketError` with `unreadableFile` when it can't be opened, isn't a regular file, or is shorter.
    public static func file(_ path: String, offset: UInt64 = 0, count: UInt64? = nil) throws -> ResponseBody {
        ResponseBody(content: .file(try ResponseFile(path: path, offset: offset, count: count)))
    }

    /// What a closure writes, as fast as the client takes it.
    ///
    /// - Parameters:
    ///   - length: how long the body will be, where that is known: it is held to it. Sent in chunks otherwise, or up to the
    ///     end of the connection to a client of HTTP/1.0.
    ///   - write: writes the body, which has ended when this returns. What it throws cuts the connection, so that the
    ///     client doesn't take a part for the whole. It is cancelled when the client has disconnected.
    /// - Returns: the body.
    public static func writer(
        length: Int? = nil,
        _ write: @escaping @Sendable (ResponseWriter) async throws -> Void
    ) -> ResponseBody {
        ResponseBody(content: .writer(length: length, write))
    }

    /// The pieces of a sequence, each sent when the client has taken those before it.
    ///
    /// - Parameters:
    ///   - pieces: the pieces; an error of theirs cuts the connection.
    ///   - length: as in ``writer(length:_:)``.
    /// - Returns: the body.
    public static func sequence<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces,
        length: Int? = nil
    ) -> ResponseBody where Pieces.Element == [UInt8] {
        writer(length: length) { writer in
            for try await piece in pieces { try await writer.write(piece) }
        }
    }

    /// The bytes, where they are at hand; `nil` for a file and what a task makes.
    public var bytes: [UInt8]? {
        switch content {
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .file, .writer, .pushed, .coded: nil
        }
    }

    /// The same, which keeps an object until all of it has gone to the connection, but for 64 KiB.
    ///
    /// A file, and what is pushed, don't.
    package func holding(_ object: some AnyObject & Sendable) -> ResponseBody {
        switch content {
        case .bytes, .text:
            let bytes = bytes ?? []
            return .writer(length: bytes.count) { writer in
                for start in stride(from: 0, to: bytes.count, by: Self.piece) {
                    try await writer.write(Array(bytes[start..<min(start + Self.piece, bytes.count)]))
                }
                withExtendedLifetime(object) {}
            }
        case .writer(let length, let write):
            return .writer(length: length) { writer in
                try await write(writer)
                withExtendedLifetime(object) {}
            }
        case .file, .pushed, .coded: return self
        }
    }

    private static let piece = 64 * 1_024

    /// Whether it is compressed on its way out.
    package var isCoded: Bool { if case .coded = content { true } else { false } }

    /// The body before it is put into a coding.
    package var uncoded: ResponseBody { if case .coded(let coded) = content { coded.body } else { self } }

    /// Whether the bytes are at hand, and no task has to make them.
    var isAtHand: Bool {
        switch content {
        case .bytes, .text: true
        case .coded(let coded): coded.isAtHand
        case .file, .writer, .pushed: false
        }
    }

    /// How long the body is; `nil` where that is known only at its end.
    package var count: Int? {
        switch content {
        case .bytes(let bytes): bytes.count
        case .text(let text): text.utf8.count
        case .file(let file): file.count
        case .writer(let length, _): length
        case .pushed, .coded: nil
        }
    }
}

extension ResponseBody: ExpressibleByStringInterpolation {
    /// A text in UTF-8.
    public init(stringLiteral text: String) {
        self.init(content: .text(text))
    }
}

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
    /// - Parameter bytes: the piece, of an array, or of a slice or another collection; an empty one does nothing.
    /// - Throws: `CancellationError` when the client has disconnected or the task is cancelled; `HTTPProtocolError` with
    ///   `wrongLength` when the body is longer than announced.
    public func write(_ bytes: some Collection<UInt8> & Sendable) async throws {
        try await exchange.write([UInt8](bytes))
    }

    /// Writes a piece of text in UTF-8; as bytes are.
    public func write(_ text: String) async throws {
        try await exchange.write(Array(text.utf8))
    }

    /// Sets fields to send after the body, if it goes in chunks (RFC 9110 section 6.5).
    public func setTrailers(_ headers: HTTPFields) async {
        await exchange.setTrailers(headers)
    }
}

/// A part of an open file for responses, each of which sends it from its beginning.
final class ResponseFile: Sendable {
    let part: FilePart
    /// Whether it was just looked at: the file had this part when the response was made.
    private let isFresh: Bool
    /// How many bytes the part has.
    let count: Int

    init(path: String, offset: UInt64, count: UInt64?) throws(SocketError) {
        part = try FileRange(path: path, offset: offset, count: count).part
        self.count = Int(clamping: part.count)
        isFresh = false
    }

    /// Takes a part that the file has now, for one response that is sent at once.
    init(fresh part: FilePart) {
        self.part = part
        count = Int(clamping: part.count)
        isFresh = true
    }

    /// The part, to be sent once.
    func range() throws(SocketError) -> sending FileRange {
        if isFresh { return FileRange(part) }
        return try FileRange(checking: part)
    }
}
