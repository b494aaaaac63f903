// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("What a socket with a delegate knows and sets", .timeLimit(minutes: 1)) struct DelegatedSocketSettingsTests {
    @Test(
        "States come in order to whoever observes; what was read and written is counted, and data of the app's is kept"
    )
    func facts() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            let states = socket.states
            socket.userData = 7
            try socket.connect(to: endpoint, options: .patient)
            try socket.readData(toLength: 3, tag: 1)
            try socket.write("hello", tag: 2)
            let peer = try await accept()
            try await peer.write("abc")
            var events = recorder.events.makeAsyncIterator()
            var seen: [SocketRecorder.Event] = []
            while seen.count < 3, let event = await events.next() { seen.append(event) }
            #expect(seen.contains(.read("abc", tag: 1)) && seen.contains(.wrote(tag: 2)))
            #expect(socket.bytesReceived == 3 && socket.bytesSent == 5 && socket.tls == nil)
            #expect(socket.userData as? Int == 7)
            socket.disconnect()
            var all: [DelegatedSocket.State] = []
            for await state in states { all.append(state) }
            #expect(all == [.idle, .connecting, .open, .closing, .closed])
            await peer.close()
        }
    }

    @Test("Options are set before the delegate hears of the connection, and refusals are told")
    func options() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            var options = SocketOptions()
            options.receiveBufferSize = 50_000
            try socket.setOptions(options)
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            let connection = try #require(socket.connection)
            #expect(try await connection.options().receiveBufferSize ?? 0 >= 50_000)
            socket.disconnect()
            #expect(await events.next() == .disconnected(nil))
            #expect(await errorCode { try socket.setOptions(options) } == .closed)
            await peer.close()
        }
    }

    @Test("What TLS has agreed on is known when the delegate hears of it")
    func secured() async throws {
        let identity = try CertificateMaker(names: ["localhost"]).make(validFrom: -60, until: 86_400)
        let server = TLSServerOptions.patient(identity)
        var client = TLSOptions()
        client.trust = .roots([try #require(identity.certificates.first)])
        client.serverName = "localhost"
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            try socket.startTLS(client)
            let peer = try await accept()
            try await peer.startTLS(server)
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            #expect(await events.next() == .secured)
            #expect(socket.tls?.version == .tls13)
            await peer.close()
        }
    }

    @Test("A reset drops what waits, and the peer sees it")
    func reset() async throws {
        try await withDelegatedSocket(queueLimit: 64_000_000) { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            try socket.write([UInt8](repeating: 1, count: 50_000_000))
            // Something of it has arrived, and the rest waits.
            _ = try await peer.read(exactly: 1)
            socket.reset()
            let events = await recorder.all
            #expect(events == [.connected, .disconnected(nil)])
            await #expect(throws: SocketError.self) { while try await peer.read() != nil {} }
        }
    }

    @Test("A descriptor from elsewhere is adopted; one that is no connected socket stays the caller's")
    func adopting() async throws {
        let recorder = SocketRecorder()
        let socket = DelegatedSocket(delegate: recorder, queue: recorder.queue)
        #expect(await errorCode { try socket.adopt(descriptor: -1) } != nil)
        var pair: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        try socket.adopt(descriptor: pair[0])
        let peer = try await Socket.adopt(descriptor: pair[1])
        try socket.readData(tag: 1)
        try await peer.write("hi")
        var events = recorder.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        #expect(await events.next() == .read("hi", tag: 1))
        #expect(await errorCode { try socket.adopt(descriptor: pair[0]) } == .invalidArgument)
        socket.disconnect()
        await peer.close()
    }
}
