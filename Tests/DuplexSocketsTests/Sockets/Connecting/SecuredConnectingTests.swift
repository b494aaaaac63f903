// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// Connecting with TLS as its last stage.
@Suite struct SecuredConnectingTests {
    /// A listener whose connections `serve` gets one after the other.
    private func withServer(
        _ serve: @escaping @Sendable (isolated Socket) async throws -> Void,
        _ body: (Int) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loops: 1)
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group)
        let serving = Task { try await listener.serve(serve) }
        do {
            try await body(listener.localAddress.port)
        } catch {
            serving.cancel()
            throw error
        }
        serving.cancel()
        _ = await serving.result
        await group.stop()
    }

    private func options(_ change: (inout TLSOptions) -> Void = { _ in }) throws -> ConnectOptions {
        var options = ConnectOptions()
        options.tls = try TestCertificates.clientOptions(change)
        return options
    }

    @Test("A secured endpoint gives a secured socket, and the timeline tells of the handshake")
    func secured() async throws {
        let server = try TestCertificates.serverOptions()
        try await withServer { socket in
            try await socket.startTLS(server)
            while let line = try await socket.readLine() { try await socket.write(line + "!\n") }
        } _: { port in
            for endpoint in [Endpoint.tls("localhost", port: port), try Endpoint("tls://127.0.0.1:\(port)")] {
                let socket = try await Socket.connect(to: endpoint, options: options())
                #expect(await socket.tls?.version == .tls13)
                try await socket.write("hello\n")
                #expect(try await socket.readLine() == "hello!")
                let timeline = try #require(socket.timeline)
                let handshake = try #require(timeline.tls)
                #expect(handshake > .zero && handshake < timeline.total)
                #expect("\(timeline)".contains("TLS took"))
                await socket.close()
            }
        }
    }

    @Test("A failed handshake says what was connected to, and how long each stage took")
    func untrusted() async throws {
        let server = TLSServerOptions(try .selfSigned(for: ["localhost"]))
        try await withServer { socket in
            try await socket.startTLS(server)
        } _: { port in
            await #expect {
                try await Socket.connect(to: .tls("localhost", port: port), options: options())
            } throws: {
                guard let error = $0 as? SocketError else { return false }
                return error.code == .untrustedPeer && error.message.hasPrefix("tls://localhost:\(port): ")
                    && error.timeline?.tls != nil
            }
        }
    }

    @Test("A server that accepts and says nothing: the handshake's deadline, and that of the whole")
    func silent() async throws {
        let (descriptor, address) = try Descriptors.listener()
        defer { SystemCalls.close(descriptor) }
        let endpoint = Endpoint.tls("127.0.0.1", port: address.port)
        await #expect {
            try await Socket.connect(to: endpoint, options: options { $0.handshakeTimeout = .milliseconds(20) })
        } throws: { "\($0)".contains("handshake took longer than 20 ms") }
        // Nothing but a handshake was sent: the record's type (RFC 8446 section 5.1).
        let connection = try Descriptors.accept(descriptor)
        defer { SystemCalls.close(connection) }
        #expect(Descriptors.read(connection)?.first == 22)
        var whole = try options()
        whole.timeout = .milliseconds(50)
        await #expect { try await Socket.connect(to: endpoint, options: whole) } throws: {
            ($0 as? SocketError)?.code == .timedOut
        }
    }

    @Test("Cancelling in the middle of a handshake closes the connection")
    func cancelled() async throws {
        let (arrivals, continuation) = AsyncStream<Void>.makeStream()
        let (ends, ended) = AsyncStream<Void>.makeStream()
        try await withServer { socket in
            _ = try await socket.peek(1)
            continuation.yield()
            while try await socket.read() != nil {}
            ended.yield()
        } _: { port in
            let connecting = Task { try await Socket.connect(to: .tls("127.0.0.1", port: port), options: options()) }
            for await _ in arrivals { break }
            connecting.cancel()
            await #expect(throws: CancellationError.self) { try await connecting.value }
            for await _ in ends { break }
        }
    }

    @Test("Options that OpenSSL refuses are an error before anything is connected to")
    func refused() async throws {
        let options = try options { $0.ciphers.tls13 = "NONE" }
        await #expect { try await Socket.connect(to: .tls("127.0.0.1", port: 9), options: options) } throws: {
            ($0 as? SocketError)?.code == .tls
        }
    }
}
