// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

/// The parts of a form as they come; see ``Request/multipart(limits:)``.
public struct MultipartForm: AsyncSequence {
    /// A part, whose content is read before the next part is asked for.
    public typealias Element = MultipartPart

    private let reader: MultipartReader

    init(_ reader: MultipartReader) {
        self.reader = reader
    }

    /// Reads the parts.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: MultipartReader

        /// The next part, or `nil` at the end of the form; what is left of the last one is passed over.
        ///
        /// - Throws: `HTTPError` with 400 for what isn't parts, with 413 beyond the limits; else as
        ///   ``RequestBody/AsyncIterator/next()``.
        public mutating func next() async throws -> MultipartPart? {
            try await reader.nextPart()
        }

        /// The next part, or `nil` at the end of the form; see ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> MultipartPart? {
            try await reader.nextPart()
        }
    }

    /// Reads the parts; a second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader)
    }
}

/// One part of a form: its head, and its content in pieces as they come.
public struct MultipartPart: AsyncSequence {
    /// Some bytes, at least one.
    public typealias Element = [UInt8]

    /// The fields of the part, and what they say.
    public let head: MultipartHead
    private let reader: MultipartReader
    private let number: Int

    init(_ head: MultipartHead, _ reader: MultipartReader, _ number: Int) {
        self.head = head
        self.reader = reader
        self.number = number
    }

    /// The name of the form's field; empty where the part names none.
    public var name: String { head.name }
    /// The name of the file as the sender calls it; `nil` for what is no file.
    ///
    /// Hazard: it may be a path that leads anywhere. For a name to keep the file under see ``safeFilename``.
    public var filename: String? { head.filename }
    /// What stands after the last slash or backslash of ``filename``, without control characters; `nil` for nothing,
    /// `.` and `..`.
    ///
    /// A file of that name may be there already.
    public var safeFilename: String? { head.disposition?.safeFilename }
    /// The media type that the sender says it is of; plain text where it doesn't.
    public var mediaType: MediaType { head.mediaType }
    /// The fields of the part.
    public var fields: HTTPFields { head.fields }

    /// Reads the pieces of a part.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: MultipartReader
        let number: Int

        /// The next piece, or `nil` at the end of the part, and once another part has been asked for.
        ///
        /// - Throws: as ``MultipartForm/AsyncIterator/next()``.
        public mutating func next() async throws -> [UInt8]? {
            try await reader.nextPiece(of: number)
        }

        /// The next piece, or `nil` at the end of the part; see ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            try await reader.nextPiece(of: number)
        }
    }

    /// Reads the pieces; a second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader, number: number)
    }

    /// The whole content of the part.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: 1 MiB.
    /// - Returns: the bytes.
    /// - Throws: `HTTPError` with 413 when there are more; else as ``MultipartForm/AsyncIterator/next()``.
    public func collect(upTo limit: ByteCount = .mebibytes(1)) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await reader.nextPiece(of: number) {
            guard piece.count <= limit.bytes - bytes.count else {
                throw HTTPError(.bodyTooLarge, "a part of the form is longer than \(limit)")
            }
            bytes += piece
        }
        return bytes
    }

    /// The whole content of the part as text, by the charset of its media type; UTF-8 where none is named.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: 1 MiB.
    /// - Returns: the text.
    /// - Throws: `HTTPError` with 415 for a charset that isn't known (`Charset`), with 400 for bytes that stand for no
    ///   text in it; else as ``collect(upTo:)``.
    public func text(upTo limit: ByteCount = .mebibytes(1)) async throws -> String {
        let charset = try Charset(of: mediaType)
        return try charset.decode(try await collect(upTo: limit))
    }
}
