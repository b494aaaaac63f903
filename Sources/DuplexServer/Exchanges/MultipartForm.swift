// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

/// The parts of a form as they come; see ``Request/multipart(limits:)``.
public struct MultipartForm: AsyncSequence {
    /// A part, whose content is read before the next part is asked for.
    public typealias Element = MultipartPart

    private let reader: MultipartReader

    fileprivate init(_ reader: MultipartReader) {
        self.reader = reader
    }

    /// Reads the parts.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: MultipartReader

        /// The next part, or `nil` at the end of the form; what is left of the last one is passed over.
        ///
        /// - Throws: `HTTPProtocolError` with 400 for what isn't parts, with 413 beyond the limits; else as
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

    private let head: MultipartHead
    private let reader: MultipartReader
    private let number: Int

    fileprivate init(_ head: MultipartHead, _ reader: MultipartReader, _ number: Int) {
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
    public var headers: HTTPFields { head.headers }

    /// Reads the pieces of a part.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: MultipartReader
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
    /// - Throws: `HTTPProtocolError` with 413 when there are more; else as ``MultipartForm/AsyncIterator/next()``.
    public func collect(limit: ByteCount = .mebibytes(1)) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await reader.nextPiece(of: number) {
            guard piece.count <= limit.bytes - bytes.count else {
                throw HTTPProtocolError(.bodyTooLarge, "a part of the form is longer than \(limit)")
            }
            bytes += piece
        }
        return bytes
    }

    /// The whole content of the part as text, by the charset of its media type; UTF-8 where none is named.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: 1 MiB.
    /// - Returns: the text.
    /// - Throws: `HTTPProtocolError` with 415 for a charset that isn't known (`Charset`), with 400 for bytes that stand for no
    ///   text in it; else as ``collect(limit:)``.
    public func text(limit: ByteCount = .mebibytes(1)) async throws -> String {
        let charset = try Charset(of: mediaType)
        return try charset.decode(try await collect(limit: limit))
    }
}

/// Reads a body of several parts: what the form and its parts share.
///
/// Not `Sendable`, as nothing here is: one task reads.
private final class MultipartReader {
    private var parser: MultipartParser
    private var pieces: RequestBody.AsyncIterator
    private var input: [UInt8] = []
    private var position = 0
    /// The number of the part that is being read, and whether it has ended.
    private var part = 0
    private var hasEnded = true
    private var isOver = false

    init(_ parser: MultipartParser, _ body: RequestBody) {
        self.parser = parser
        pieces = body.makeAsyncIterator()
    }

    func nextPart() async throws -> MultipartPart? {
        while let event = try await nextEvent() {
            switch event {
            case .begin(let head):
                part += 1
                hasEnded = false
                return MultipartPart(head, self, part)
            case .piece: break
            case .end: hasEnded = true
            }
        }
        return nil
    }

    func nextPiece(of number: Int) async throws -> [UInt8]? {
        guard number == part, !hasEnded else { return nil }
        switch try await nextEvent() {
        case .piece(let piece): return piece
        case .end, .begin, nil:
            hasEnded = true
            return nil
        }
    }

    private func nextEvent() async throws -> MultipartEvent? {
        while !isOver {
            let bytes = input
            if let event = try parser.next(bytes.span, from: &position) { return event }
            position = 0
            if let piece = try await pieces.next() {
                input = piece
            } else {
                input = []
                isOver = true
            }
        }
        try parser.finish()
        return nil
    }
}

// MARK: Forms of requests

extension Request {
    /// The fields of a form that was sent as names and values (`application/x-www-form-urlencoded`).
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the names and values, decoded and in their order.
    /// - Throws: `HTTPProtocolError` with 415 for a body of another media type, with 400 for one that can't be decoded or has more
    ///   than 1,000 fields, with 413 beyond the limit; else as ``RequestBody/AsyncIterator/next()``.
    public func form(limit: ByteCount = .unlimited) async throws -> QueryItems {
        guard contentType?.matches(.urlEncodedForm) == true else {
            throw HTTPProtocolError(.unsupportedMediaType, "the body is no form of names and values")
        }
        let bytes = try await body.collect(limit: limit)
        guard let text = String(validating: bytes, as: UTF8.self), let items = QueryItems(text) else {
            throw HTTPProtocolError(.malformedBody, "the form isn't made of names and values that can be decoded")
        }
        return items
    }

    /// The parts of a form with files (`multipart/form-data`), or of another `multipart` body, one after the other.
    ///
    /// ```swift
    /// server.post("/upload", .bodySize(.gibibytes(1))) { request in
    ///     for try await part in try request.multipart() {
    ///         guard let name = part.safeFilename else { continue }
    ///         for try await piece in part { try await store.write(piece, to: name) }
    ///     }
    ///     return Response(.created)
    /// }
    /// ```
    ///
    /// Nothing more is received than is read, so that a form of any length takes little memory. What is left of a part is
    /// passed over when the next one is asked for.
    ///
    /// - Parameter limits: what the parts may be. Default: 1,000 parts, which together are as long as the body may be.
    /// - Returns: the parts; to be read once, by one task.
    /// - Throws: `HTTPProtocolError` with 415 for a body of another media type, with 400 for one without a boundary.
    public func multipart(limits: MultipartLimits = MultipartLimits()) throws(HTTPProtocolError) -> MultipartForm {
        let parser = try MultipartParser(contentType ?? "", limits: limits)
        return MultipartForm(MultipartReader(parser, body))
    }
}
