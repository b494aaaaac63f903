// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes
import Synchronization

/// The body of a request, in pieces as they come.
///
/// Read once, by one task. As long as the handler doesn't ask for more, nothing more than 64 KiB is received, and TCP
/// holds the client back. A client that waits for `100 Continue` gets it when the first piece is asked for (RFC 9110
/// section 10.1.1). What the handler leaves is read past, up to 64 KiB, or the connection ends after the response.
///
/// The whole is bounded by `HTTPLimits.bodySize` of the route; 413 answers a request that says it is longer. The codings that it
/// was sent in are taken off, gzip and deflate, and both lengths are bounded; see ``RouteOption/inflatesBodies(_:)``.
public struct RequestBody: AsyncSequence, Sendable {
    /// Some bytes, at least one.
    public typealias Element = [UInt8]

    private let source: Source
    /// The length that was announced; `nil` where it is known at the end only, as of a body in a coding, and 0 where there is
    /// no body.
    public let length: Int?

    /// Where the pieces come from.
    enum Source: Sendable {
        case none
        case exchange(Exchange)
        /// Bytes at hand, of a request that a test makes.
        case held(HeldBytes)

        @inline(__always)
        func nextPiece() async throws -> [UInt8]? {
            switch self {
            case .none: nil
            case .exchange(let exchange): try await exchange.nextPiece()
            case .held(let bytes): bytes.take()
            }
        }
    }

    /// Bytes that are read once.
    final class HeldBytes: Sendable {
        private let bytes: Mutex<[UInt8]?>

        init(_ bytes: [UInt8]) {
            self.bytes = Mutex(bytes.isEmpty ? nil : bytes)
        }

        func take() -> [UInt8]? { bytes.withLock { $0.take() } }
    }

    init(exchange: Exchange?, length: Int?) {
        source = exchange.map { .exchange($0) } ?? .none
        self.length = length
    }

    /// Makes a body of bytes at hand.
    init(holding bytes: [UInt8]) {
        source = .held(HeldBytes(bytes))
        length = bytes.count
    }

    private init() {
        source = .none
        length = 0
    }

    static let none = RequestBody()
    /// How long a body in a coding may become where its route sets no bound: two codings make gigabytes of a few kilobytes.
    static let inflatedLimit = ByteCount.mebibytes(64)

    /// Reads the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source

        /// The next piece, or `nil` at the end.
        ///
        /// - Throws: `HTTPProtocolError` when the body is malformed, too slow, too long or cut short; thrown on by a handler, it is
        ///   answered with its status. `CancellationError` when the task is cancelled or the client has disconnected.
        public mutating func next() async throws -> [UInt8]? {
            try await source.nextPiece()
        }

        /// The next piece, or `nil` at the end; see ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            try await source.nextPiece()
        }
    }

    /// Reads the pieces; a second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(source: source)
    }

    /// The whole body.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the bytes; none where there is no body.
    /// - Throws: `HTTPProtocolError` with `bodyTooLarge` when there are more, else as ``AsyncIterator/next()``.
    public func collect(limit: ByteCount = .unlimited) async throws -> [UInt8] {
        if case .none = source { return [] }
        if let length, length > limit.bytes { throw Self.tooLarge(limit) }
        var bytes: [UInt8] = []
        while let piece = try await source.nextPiece() {
            guard piece.count <= limit.bytes - bytes.count else { throw Self.tooLarge(limit) }
            // A body that comes in one piece isn't copied.
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
        }
        return bytes
    }

    private static func tooLarge(_ limit: ByteCount) -> HTTPProtocolError {
        HTTPProtocolError(.bodyTooLarge, "the body is longer than \(limit)")
    }

    /// The fields after a body in chunks (RFC 9112 section 7.1.2); empty before its end.
    public var trailers: HTTPFields {
        get async {
            guard case .exchange(let exchange) = source else { return [:] }
            return await exchange.requestTrailers
        }
    }
}
