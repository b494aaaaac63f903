// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

/// Tells what it is told, and sees that it is on its queue and alone there.
final class SocketRecorder: SocketDelegate, Sendable {
    enum Event: Sendable, Equatable {
        case connected
        case secured
        case read(String, tag: Int)
        case wrote(tag: Int)
        case endOfStream
        case disconnected(SocketError.Code?)
    }

    private static let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "duplex.tests")
    let events: AsyncStream<Event>
    private let event: AsyncStream<Event>.Continuation

    init() {
        queue.setSpecific(key: Self.key, value: true)
        (events, event) = AsyncStream.makeStream()
    }

    private func record(_ what: Event) {
        #expect(DispatchQueue.getSpecific(key: Self.key) == true)
        event.yield(what)
    }

    func socketDidConnect(_ socket: DelegatedSocket) { record(.connected) }

    func socketDidSecure(_ socket: DelegatedSocket) { record(.secured) }

    func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int) {
        record(.read(String(decoding: bytes, as: UTF8.self), tag: tag))
    }

    func socket(_ socket: DelegatedSocket, didWriteWithTag tag: Int) { record(.wrote(tag: tag)) }

    func socketDidReachEndOfStream(_ socket: DelegatedSocket) { record(.endOfStream) }

    func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?) {
        record(.disconnected(error?.code))
        event.finish()
    }

    /// All events up to the end of the connection.
    var all: [Event] {
        get async {
            var all: [Event] = []
            for await event in events { all.append(event) }
            return all
        }
    }
}

/// A delegated socket that isn't connected yet, where it connects to, and what accepts it.
func withDelegatedSocket(
    closesAtEndOfStream: Bool = true,
    queueLimit: Int = 16_777_216,
    queueCount: Int = 16_384,
    _ body: (DelegatedSocket, SocketRecorder, Endpoint, () async throws -> Socket) async throws -> Void
) async throws {
    let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
    var iterator = listener.makeAsyncIterator()
    let recorder = SocketRecorder()
    let socket = DelegatedSocket(
        delegate: recorder,
        queue: recorder.queue,
        closesAtEndOfStream: closesAtEndOfStream,
        queueLimit: .bytes(queueLimit),
        queueCount: queueCount
    )
    do {
        try await body(socket, recorder, .address(listener.localAddress)) { try #require(try await iterator.next()) }
        socket.disconnect()
        await listener.close()
    } catch {
        socket.disconnect()
        await listener.close()
        throw error
    }
}
