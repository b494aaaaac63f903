// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// What a ``DelegatedSocket`` was asked for, in order, and what waits of it.
struct SocketOrders: Sendable {
    /// A read, and what its answer is called with.
    struct Read: Sendable {
        var tag: Int
        /// Reads it; `nil` at the end of the stream.
        var take: @Sendable (Socket) async throws -> [UInt8]?
    }

    /// A write, and what its answer is called with.
    struct Write: Sendable {
        var bytes: [UInt8]
        var tag: Int
        var timeout: Duration?
        var extend: TimeoutExtension?
    }

    enum Reading: Sendable {
        case read(Read)
        case secure(Securing)
    }

    enum Writing: Sendable {
        case write(Write)
        case secure(Securing)
    }

    /// A handshake, which waits for the reads and the writes that were asked for before it.
    struct Securing: Sendable {
        enum Role: Sendable {
            case client(TLSOptions)
            case server(TLSServerOptions)
        }

        let role: Role
        private let written: (stream: AsyncStream<Never>, continuation: AsyncStream<Never>.Continuation)
        private let secured: (stream: AsyncStream<Never>, continuation: AsyncStream<Never>.Continuation)

        init(_ role: Role) {
            self.role = role
            written = AsyncStream.makeStream()
            secured = AsyncStream.makeStream()
        }

        /// The writes before it are done.
        func endWriting() { written.continuation.finish() }

        /// The handshake is over, or there will be none.
        func endSecuring() { secured.continuation.finish() }

        /// Waits until the writes before it are done.
        func waitForWrites() async { for await _ in written.stream {} }

        /// Waits until the handshake is over.
        func waitUntilOver() async { for await _ in secured.stream {} }
    }

    let reads: AsyncStream<Reading>
    let writes: AsyncStream<Writing>
    private let reading: AsyncStream<Reading>.Continuation
    private let writing: AsyncStream<Writing>.Continuation

    init() {
        (reads, reading) = AsyncStream.makeStream()
        (writes, writing) = AsyncStream.makeStream()
    }

    func add(_ read: Read) { reading.yield(.read(read)) }

    func add(_ write: Write) { writing.yield(.write(write)) }

    func secure(_ role: Securing.Role) {
        let securing = Securing(role)
        reading.yield(.secure(securing))
        writing.yield(.secure(securing))
    }

    func finishReads() { reading.finish() }

    func finishWrites() { writing.finish() }
}
