// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct UDPSocketDelegateTests {
    /// Takes no more than the end.
    private final class Silent: UDPSocketDelegate, Sendable {
        let end: AsyncStream<SocketError.Code?>.Continuation

        init(_ end: AsyncStream<SocketError.Code?>.Continuation) { self.end = end }

        func socket(_ socket: DelegatedUDPSocket, didCloseWith error: SocketError?) { end.yield(error?.code) }
    }

    @Test("Every method may be left out")
    func defaults() async throws {
        let peer = try await UDPSocket.bind("127.0.0.1")
        let (ends, end) = AsyncStream<SocketError.Code?>.makeStream()
        let silent = Silent(end)
        let socket = DelegatedUDPSocket(delegate: silent, queue: .global())
        try socket.connect(to: .address(peer.localAddress))
        socket.beginReceiving()
        try socket.send([1])
        try socket.send([UInt8](repeating: 0, count: 70_000))
        let datagram = try await peer.receive()
        try await peer.send(datagram.reply([2]))
        socket.closeAfterSending()
        #expect(await ends.first { _ in true } == .some(nil))
        await peer.close()
    }
}
