// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Socket {
    /// The lines of text that arrive, without their ends, of at most 64 KiB each; see
    /// ``readLine(limit:timeout:extend:)``.
    ///
    /// Ends once the peer has finished writing. What follows the last line that was taken stays for other reads.
    public nonisolated var lines: Lines {
        Lines(socket: self)
    }

    /// The bytes that arrive, one by one; ends once the peer has finished writing.
    ///
    /// An iterator takes up to 64 KiB at once and keeps them: what it hasn't given when it is dropped is lost. To go on
    /// with another kind of read, use ``read(upTo:timeout:extend:)`` in the first place.
    public nonisolated var bytes: Bytes {
        Bytes(socket: self)
    }

    /// The lines of a stream.
    public struct Lines: AsyncSequence, Sendable {
        let socket: Socket

        /// Reads one line after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: Socket

            /// The next line; `nil` once the peer has finished writing and nothing is left.
            public mutating func next() async throws -> String? {
                try await socket.readLine()
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }

    /// The bytes of a stream.
    public struct Bytes: AsyncSequence, Sendable {
        let socket: Socket

        /// Reads a piece of the stream at a time, and gives it byte by byte.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: Socket
            private var piece: [UInt8] = []
            private var position = 0

            init(socket: Socket) {
                self.socket = socket
            }

            /// The next byte; `nil` once the peer has finished writing.
            public mutating func next() async throws -> UInt8? {
                if position == piece.count {
                    guard let more = try await socket.read() else { return nil }
                    piece = more
                    position = 0
                }
                defer { position += 1 }
                return piece[position]
            }
        }

        /// Begins to iterate.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(socket: socket)
        }
    }
}
