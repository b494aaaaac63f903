// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct SocketSecuringTests {
    /// Two sockets that are secured from the beginning.
    private func withSecuredPair(
        _ client: TLSOptions? = nil,
        _ server: TLSServerOptions? = nil,
        _ body: (Socket, Socket) async throws -> Void
    ) async throws {
        let (client, server) = (
            try client ?? TestCertificates.clientOptions(), try server ?? TestCertificates.serverOptions()
        )
        try await withPair { near, far in
            async let secured: Void = far.startTLS(server)
            try await near.startTLS(client)
            try await secured
            try await body(near, far)
        }
    }

    @Test("Bytes go both ways secured, and the end of the stream is seen after them")
    func bothWays() async throws {
        try await withSecuredPair { near, far in
            #expect(await near.tls?.version == .tls13)
            #expect(await far.tls?.version == .tls13)
            try await near.write("hello")
            #expect(try await far.read() == Array("hello".utf8))
            try await far.write("there")
            #expect(try await near.read() == Array("there".utf8))
            await near.finishWriting()
            #expect(try await far.read() == nil)
            try await far.write("still open this way")
            #expect(try await near.read() == Array("still open this way".utf8))
            await far.finishWriting()
            #expect(try await near.read() == nil)
        }
    }

    @Test(
        "A connection that ends after the server asked for a certificate says that there was none",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func noCertificate(version: TLSVersion) async throws {
        let client = try TestCertificates.clientOptions { $0.versions = version...version }
        let server = try TestCertificates.serverOptions {
            $0.clientCertificates = .required((try? TestCertificates.trust.withoutNameCheck()) ?? .systemRoots)
        }
        try await withPair { near, far in
            async let refused: Void = far.startTLS(server)
            let error = await #expect(throws: SocketError.self) {
                try await near.startTLS(client)
                _ = try await near.read()
            }
            #expect(error?.hint?.contains("asked for a client certificate, and this side has none") == true)
            _ = try? await refused
        }
        // Let in without one, and cut.
        let lenient = try TestCertificates.serverOptions {
            $0.clientCertificates = .requested((try? TestCertificates.trust.withoutNameCheck()) ?? .systemRoots)
        }
        for hasSent in [false, true] {
            try await withPair { near, far in
                async let served: Void = far.startTLS(lenient)
                try await near.startTLS(client)
                try await served
                if hasSent {
                    try await far.write("hello")
                    _ = try await near.read()
                }
                await far.reset()
                let error = await #expect(throws: SocketError.self) { _ = try await near.read() }
                #expect((error?.hint != nil) == !hasSent)
            }
        }
    }

    @Test("What is written while the system's roots are being read goes out secured")
    func waitingForRoots() async throws {
        let gated = try GatedRoots()
        var options = gated.options
        options.serverName = "localhost"
        let server = try TestCertificates.serverOptions()
        try await withPair { [options] near, far in
            async let secured: Void = near.startTLS(options)
            for await _ in gated.reads { break }
            try await near.write("secret")
            async let served: Void = far.startTLS(server)
            gated.open()
            try await secured
            try await served
            #expect(try await far.read() == Array("secret".utf8))
        }
    }

    @Test("Reads of every kind, of more than a record, piece by piece")
    func reads() async throws {
        try await withSecuredPair { near, far in
            let text = (0..<9_000).map { "line \($0)\r\n" }.joined()
            async let written: Void = near.write(text)
            #expect(try await far.read(exactly: 3) == Array("lin".utf8))
            #expect(try await far.read(until: "\r\n") == Array("e 0\r\n".utf8))
            #expect(try await far.peek(6) == Array("line 1".utf8))
            for index in 1..<9_000 { #expect(try await far.readLine() == "line \(index)") }
            try await written
            #expect(await near.bytesSent == UInt64(text.utf8.count))
            #expect(await far.bytesReceived == UInt64(text.utf8.count))
        }
    }

    @Test(
        "Megabytes both ways at once, written in pieces of all sizes, arrive whole",
        arguments: [
            100, 1_000, 16_384, 65_536, 1_000_000,
        ]
    )
    func bulk(size: Int) async throws {
        let count = 3_000_000 / size
        let piece = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await withSecuredPair { near, far in
            try await withThrowingTaskGroup { group in
                for (from, to) in [(near, far), (far, near)] {
                    group.addTask {
                        for _ in 0..<count { try await from.write(piece) }
                        await from.finishWriting()
                    }
                    group.addTask {
                        for _ in 0..<count {
                            let bytes = try await to.read(exactly: size)
                            #expect(bytes == piece)
                        }
                        let end = try await to.read()
                        #expect(end == nil)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("What nobody reads isn't received: the writer waits, and a read finds all of it")
    func backpressure() async throws {
        try await withSecuredPair { near, far in
            try await near.write([UInt8](repeating: 1, count: 100_000))
            let piece = [UInt8](repeating: 2, count: 1 << 20)
            await #expect { for _ in 0..<64 { try await near.write(piece, timeout: .milliseconds(200)) } } throws: {
                ($0 as? SocketError)?.code == .timedOut
            }
            let queued = await near.queuedBytes
            #expect(queued > 64 * 1_024 && queued < 4 << 20)
            let written = await near.bytesSent
            await near.finishWriting()
            var received: UInt64 = 0
            while let bytes = try await far.read() { received += UInt64(bytes.count) }
            #expect(received == written)
        }
    }

    @Test("Closing in order tells the peer so; a connection that is cut is told apart")
    func truncation() async throws {
        try await withSecuredPair { near, far in
            try await near.write("all of it")
            await near.close()
            #expect(try await far.read() == Array("all of it".utf8))
            #expect(try await far.read() == nil)
        }
        try await withSecuredPair { near, far in
            try await near.write("some of it")
            #expect(try await far.read() == Array("some of it".utf8))
            // The end of the stream of the network, without one of TLS.
            try await near.loop.run { _ in SystemCalls.finishWriting(near.channel.value.descriptor) }
            await #expect { try await far.read() } throws: { ($0 as? SocketError)?.code == .truncated }
        }
    }

    // MARK: In the middle of a stream

    @Test("What was written before goes in the clear, what comes after is secured")
    func middle() async throws {
        try await withPair { near, far in
            let server = try TestCertificates.serverOptions()
            try await near.write("STARTTLS\r\n")
            #expect(try await far.readLine() == "STARTTLS")
            try await far.write("220 go on\r\n")
            async let secured: Void = far.startTLS(server)
            #expect(try await near.readLine() == "220 go on")
            try await near.startTLS(TestCertificates.clientOptions())
            try await secured
            try await near.write("secret")
            #expect(try await far.read() == Array("secret".utf8))
        }
    }

    @Test("The beginning of a handshake that was read too early isn't lost")
    func early() async throws {
        try await withPair { near, far in
            // The client doesn't wait for an answer: its handshake arrives with the line, or right behind it.
            try await near.write("STARTTLS\r\n")
            async let secured: Void = near.startTLS(TestCertificates.clientOptions())
            #expect(try await far.peek(100)?.count == 100)
            #expect(try await far.readLine() == "STARTTLS")
            try await far.startTLS(TestCertificates.serverOptions())
            try await secured
            try await near.write("secret")
            #expect(try await far.read() == Array("secret".utf8))
        }
    }

    @Test("What somebody injects behind STARTTLS is never read as if it had been secured")
    func injection() async throws {
        try await withPair { near, far in
            try await near.write("STARTTLS\r\nMAIL FROM:<thief@example.com>\r\n")
            #expect(try await far.readLine() == "STARTTLS")
            _ = try await far.peek(1)
            let server = try TestCertificates.serverOptions()
            await #expect { try await far.startTLS(server) } throws: {
                ($0 as? SocketError)?.message.contains("doesn't speak TLS") == true
            }
            await #expect(throws: SocketError.self) { try await far.readLine() }
        }
    }

    @Test("Reads that wait before are served in the clear, those behind wait for the handshake")
    func order() async throws {
        try await withPair { near, far in
            async let first = far.read(exactly: 5)
            let server = try TestCertificates.serverOptions()
            // The first read waits, and the handshake behind it, before anything is written.
            try await far.untilReaders(1)
            async let secured: Void = far.startTLS(server)
            try await far.untilReaders(2)
            async let second = far.read(exactly: 6)
            try await far.untilReaders(3)
            try await far.write("waits for the handshake")
            try await near.write("plain")
            try await near.startTLS(TestCertificates.clientOptions())
            try await near.write("secret")
            #expect(try await first == Array("plain".utf8))
            try await secured
            #expect(try await second == Array("secret".utf8))
            #expect(try await near.read(exactly: 23) == Array("waits for the handshake".utf8))
        }
    }

    @Test("Securing twice is an error, and the connection lives on")
    func twice() async throws {
        try await withSecuredPair { near, far in
            await #expect { try await near.startTLS() } throws: {
                ($0 as? SocketError)?.message.contains("secured already") == true
            }
            try await near.write("on")
            #expect(try await far.read() == Array("on".utf8))
        }
    }

    @Test("A server that says nothing runs out of time, and the connection is closed")
    func timeout() async throws {
        try await withPair { near, far in
            let client = try TestCertificates.clientOptions { $0.handshakeTimeout = .milliseconds(50) }
            await #expect { try await near.startTLS(client) } throws: { ($0 as? SocketError)?.code == .timedOut }
            await #expect { try await near.write("x") } throws: { ($0 as? SocketError)?.code == .timedOut }
            // The client's greeting, and then the end.
            while try await far.read() != nil {}
        }
    }

    @Test("Cancelling a handshake resets the connection")
    func cancelled() async throws {
        try await withPair { near, far in
            let task = Task { try await near.startTLS(TestCertificates.clientOptions()) }
            _ = try await far.peek(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await #expect(throws: SocketError.self) { while try await far.read() != nil {} }
        }
    }

    @Test("A peer that isn't trusted: the client says why, and the server hears of it")
    func untrusted() async throws {
        try await withPair { near, far in
            let server = TLSServerOptions(try .selfSigned(for: ["127.0.0.1"]))
            let secured = Task { try await far.startTLS(server) }
            await #expect { try await near.startTLS(TestCertificates.clientOptions()) } throws: {
                ($0 as? SocketError)?.code == .untrustedPeer
            }
            await #expect { try await secured.value } throws: {
                ($0 as? SocketError)?.message.contains("unknown_ca") == true
            }
        }
    }

    @Test("The decision of the caller is waited for, and nobody else waits", arguments: [true, false])
    func decision(isTrusted: Bool) async throws {
        let (questions, continuation) = AsyncStream<CheckedContinuation<Bool, Never>>.makeStream()
        let client = try TestCertificates.clientOptions {
            $0.trust = $0.trust.decided { _ in await withCheckedContinuation { continuation.yield($0) } }
        }
        try await withPair { near, far in
            let secured = Task { try await far.startTLS(TLSServerOptions(.selfSigned(for: ["127.0.0.1"]))) }
            let opening = Task { try await near.startTLS(client) }
            for await question in questions {
                // The loop does other things meanwhile.
                try await near.loop.run { _ in }
                question.resume(returning: isTrusted)
                break
            }
            if isTrusted {
                try await opening.value
                try await secured.value
                try await near.write("yes")
                #expect(try await far.read() == Array("yes".utf8))
            } else {
                await #expect { try await opening.value } throws: { ($0 as? SocketError)?.code == .untrustedPeer }
                await #expect(throws: SocketError.self) { try await secured.value }
            }
        }
    }

    @Test("A socket that closes while a decision is out lets it go")
    func decisionTooLate() async throws {
        let (questions, continuation) = AsyncStream<CheckedContinuation<Bool, Never>>.makeStream()
        let client = try TestCertificates.clientOptions {
            $0.trust = $0.trust.decided { _ in await withCheckedContinuation { continuation.yield($0) } }
        }
        try await withPair { near, far in
            let secured = Task { try await far.startTLS(TestCertificates.serverOptions()) }
            let opening = Task { try await near.startTLS(client) }
            for await question in questions {
                await near.close()
                await #expect { try await opening.value } throws: { ($0 as? SocketError)?.code == .closed }
                question.resume(returning: true)
                break
            }
            await #expect(throws: SocketError.self) { try await secured.value }
        }
    }

    @Test("Client certificates both ways, with the peer's chain to be read")
    func clientCertificate() async throws {
        let client = try TestCertificates.clientOptions { $0.identity = try? TestCertificates.client }
        let server = try TestCertificates.serverOptions {
            $0.clientCertificates = .required((try? TestCertificates.trust.withoutNameCheck()) ?? .systemRoots)
        }
        try await withSecuredPair(client, server) { near, far in
            let (shown, expected) = (await far.tls, try TestCertificates.client.certificates)
            #expect(shown?.peerCertificates == expected)
            let (own, ours) = (await near.tls, try TestCertificates.server.certificates)
            #expect(own?.peerCertificates == ours)
        }
    }

    @Test("Closing while the handshake waits ends the wait")
    func closedMeanwhile() async throws {
        try await withPair { near, far in
            let opening = Task { try await near.startTLS(TestCertificates.clientOptions()) }
            _ = try await far.peek(1)
            await near.close()
            await #expect { try await opening.value } throws: { ($0 as? SocketError)?.code == .closed }
        }
    }

    @Test("A peer that ends the connection in the middle of a handshake is told")
    func endedMeanwhile() async throws {
        try await withPair { near, far in
            let opening = Task { try await near.startTLS(TestCertificates.clientOptions()) }
            _ = try await far.read()
            await far.close()
            await #expect { try await opening.value } throws: {
                ($0 as? SocketError)?.message.contains("closed the connection during the TLS handshake") == true
            }
        }
    }

    @Test("What a peer sends before it goes is read, though it waits for no tickets", arguments: [true, false])
    func goneAtOnce(endsInOrder: Bool) async throws {
        let bytes = TestFile.pattern(20_000)
        let context = try TestCertificates.clientOptions().context()
        // On one loop, so that the peer is gone before this side hears that the handshake is over.
        let group = try EventLoopGroup(loops: 1)
        let listener = try SocketListener.bind(.unix("/tmp/duplex-\(UInt64.random(in: 0 ... .max))"), on: group)
        var iterator = listener.makeAsyncIterator()
        let near = try await Socket.connect(to: .address(listener.localAddress), on: group)
        let far = try #require(await iterator.next())
        async let secured: Void = far.startTLS(TestCertificates.serverOptions())
        try await near.loop.run { _ in
            let channel = near.channel.value
            try channel.prepareTLS(context, serverName: "localhost", timeout: .seconds(60), loop: near.loop) { _ in
                channel.writeNow(bytes.span.raw)
                if endsInOrder { channel.finishWriting() }
                channel.close()
            }
            channel.startTLS()
        }
        try await secured
        #expect(try await far.read(exactly: bytes.count) == bytes)
        if endsInOrder {
            #expect(try await far.read() == nil)
            // A write is taken, and found to go nowhere at the end of the loop's turn.
            await expectSocketError(.connectionReset) {
                for _ in 0..<1_000 { try await far.write("nobody hears this") }
            }
        } else {
            let error = await asyncSocketError { _ = try await far.read() }
            // A reset is what the system makes of it where something was left unread at the other end.
            #expect(error?.code == .truncated || error?.code == .connectionReset, "\(error)")
        }
        await far.close()
        await listener.close()
        await group.stop()
    }
}

extension Socket {
    /// Waits until that many reads wait.
    fileprivate func untilReaders(_ count: Int) async throws {
        while waitingReads < count { try await loop.run { _ in } }
    }
}
