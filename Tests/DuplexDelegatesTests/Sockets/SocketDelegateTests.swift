// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct SocketDelegateTests {
    /// Takes no more than the end.
    private final class Silent: SocketDelegate, Sendable {
        let end: AsyncStream<SocketError.Code?>.Continuation

        init(_ end: AsyncStream<SocketError.Code?>.Continuation) { self.end = end }

        func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?) { end.yield(error?.code) }
    }

    @Test("Every method may be left out")
    func defaults() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        let (ends, end) = AsyncStream<SocketError.Code?>.makeStream()
        let silent = Silent(end)
        try await withDelegatedSocket { _, _, endpoint, accept in
            let socket = DelegatedSocket(delegate: silent, queue: .global())
            try socket.connect(to: endpoint, options: .patient)
            try socket.readData()
            try socket.write("x")
            var client = TLSOptions()
            client.trust = .roots(identity.certificates)
            client.serverName = "localhost"
            try socket.startTLS(client)
            let peer = try await accept()
            #expect(try await peer.read(exactly: 1) == [0x78])
            try await peer.write("y")
            try await peer.startTLS(TLSServerOptions.patient(identity))
            await peer.close()
            #expect(await ends.first { _ in true } == .endOfStream)
        }
        silent.socket(DelegatedSocket(delegate: silent, queue: .global()), didRead: [], tag: 0)
    }

    /// Tells the stages.
    private final class Stager: SocketDelegate, Sendable {
        let stages: AsyncStream<String>
        private let stage: AsyncStream<String>.Continuation

        init() { (stages, stage) = AsyncStream.makeStream() }

        func socket(_ socket: DelegatedSocket, didReach event: StageEvent) { stage.yield("\(event.stage)") }

        func socketDidConnect(_ socket: DelegatedSocket) {
            stage.yield("connected")
            socket.disconnect()
        }

        func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?) { stage.finish() }
    }

    @Test("It gets the stages of connecting before the connection, and so does the options' callback")
    func stages() async throws {
        try await withDelegatedSocket { _, _, endpoint, _ in
            let stager = Stager()
            let (heard, hear) = AsyncStream<String>.makeStream()
            let socket = DelegatedSocket(delegate: stager, queue: .global())
            var options = ConnectOptions.patient
            options.onStage = { hear.yield("\($0.stage)") }
            try socket.connect(to: endpoint, options: options)
            var told: [String] = []
            for await stage in stager.stages { told.append(stage) }
            hear.finish()
            var others: [String] = []
            for await stage in heard { others.append(stage) }
            #expect(!others.isEmpty)
            #expect(told == others + ["connected"])
        }
    }
}
