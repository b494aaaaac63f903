// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

// A stream of bytes through a WebSocket, for what speaks over TCP otherwise.

extension WebSocket {
    /// The connection as a stream of bytes.
    public nonisolated var stream: WebSocketStream { WebSocketStream(socket: self) }
}

/// A stream of bytes in both directions, carried by binary messages whose bounds mean nothing.
///
/// Reads as ``WebSocket/fragments`` does: messages of any length, in bounded memory, from the first ask on, while a
/// slow reader slows the peer down. The peer ends its side by closing with 1000. A WebSocket has no half-close: who
/// ends its own side gets nothing more either. One task reads at a time; any number may write.
public struct WebSocketStream: AsyncSequence, Sendable {
    let socket: WebSocket

    /// The most bytes of one message: 64 KiB, which every peer takes.
    static let messageSize = 64 * 1_024

    /// Reads what there is, at least one byte.
    ///
    /// Cancelling ends the wait, and loses nothing.
    ///
    /// - Returns: the bytes; `nil` once the stream has ended: the connection was closed with 1000, between two
    ///   messages.
    /// - Throws: ``WebSocketError``: what ended the connection otherwise, also with 1001 or without a code, as more was
    ///   to come then; ``WebSocketError/Code/protocolViolation`` for a text, which closes the connection with 1003;
    ///   `CancellationError`.
    public func read() async throws -> [UInt8]? {
        try await socket.readStream()
    }

    /// Reads just so many bytes.
    ///
    /// What came before an error, or before the end of the stream, stays for the next read.
    ///
    /// - Parameter count: how many; none returns at once.
    /// - Returns: the bytes.
    /// - Throws: as ``read()``, and ``WebSocketError/Code/closed`` if the stream ends before.
    public func read(exactly count: Int) async throws -> [UInt8] {
        try await socket.readStream(exactly: count)
    }

    /// Writes bytes, in messages of at most 64 KiB.
    ///
    /// Returns once they are sent or wait behind less than the high-water mark (64 KiB). Writes of several tasks stay
    /// whole up to 64 KiB, and may be mixed beyond. Cancelling between two messages leaves the rest unsent.
    ///
    /// - Parameter bytes: the bytes; none sends nothing.
    /// - Throws: as ``WebSocket/send(_:)-(Message)``.
    public func write(_ bytes: [UInt8]) async throws {
        if bytes.count <= Self.messageSize {
            if !bytes.isEmpty { try await socket.send(.binary(bytes)) }
            return
        }
        var start = 0
        while start < bytes.count {
            let end = Swift.min(start + Self.messageSize, bytes.count)
            try await socket.send(.binary(Array(bytes[start..<end])))
            start = end
        }
    }

    /// Ends the stream after what was written: closes the connection with 1000, as ``WebSocket/close(code:reason:)``
    /// does.
    ///
    /// - Returns: how the connection ended.
    @discardableResult
    public func finish() async -> CloseReport {
        await socket.close()
    }

    /// Reads what there is, again and again.
    ///
    /// All that is thrown is a ``WebSocketError``; cancelling is ``WebSocketError/Code/cancelled``.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: WebSocketStream

        /// What ``WebSocketStream/read()`` returns.
        public mutating func next() async throws(WebSocketError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        /// What ``WebSocketStream/read()`` returns.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(WebSocketError) -> [UInt8]? {
            do {
                return try await stream.read()
            } catch {
                throw WebSocketError(endOfWait: error)
            }
        }
    }

    /// Begins to iterate, or goes on where another iterator has stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}

extension WebSocket {
    fileprivate func readStream() async throws -> [UInt8]? {
        let streams = makeStreams()
        if !streams.streamRest.isEmpty {
            defer { streams.streamRest = [] }
            return streams.streamRest
        }
        return try await readPiece(streams)
    }

    private func readPiece(_ streams: PieceTraffic) async throws -> [UInt8]? {
        while true {
            if streams.inbox.isReading, let piece = try await nextPiece(of: streams.messageNumber) { return piece }
            guard let message = try await nextFragmentedMessage(limit: .unlimited) else {
                if session.report.code == .normalClosure { return nil }
                throw notOpen()
            }
            if message.kind == .text {
                // Nobody reads it, or the next read would.
                streams.messageNumber += 1
                streams.inbox.skip()
                streams.isEndedFromWithin = true
                beginClose(.unsupportedData, reason: "A stream of bytes has no texts.")
                let text = "A text came where bytes were expected."
                throw WebSocketError(.protocolViolation, message: text, closeReport: session.report)
            }
        }
    }

    fileprivate func readStream(exactly count: Int) async throws -> [UInt8] {
        guard count > 0 else { return [] }
        let streams = makeStreams()
        while streams.streamRest.count < count {
            guard let piece = try await readPiece(streams) else {
                let held = streams.streamRest.count
                throw WebSocketError(
                    .closed,
                    message: "The stream has ended after \(held) of \(count) bytes.",
                    closeReport: session.report
                )
            }
            streams.streamRest += piece
        }
        defer { streams.streamRest.removeFirst(count) }
        return Array(streams.streamRest.prefix(count))
    }
}
