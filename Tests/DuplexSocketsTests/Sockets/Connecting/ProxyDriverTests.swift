// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

@Suite("The conversation with a proxy")
struct ProxyDriverTests {
    private func attempt(
        timeout: Duration = .limit(seconds: 20),
        to endpoint: Endpoint = .host("target.invalid", port: 25),
        tls: TLSOptions = TLSOptions(),
        _ body: (Task<Socket, any Error>, Socket) async throws -> Void
    ) async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var options = ConnectOptions(timeout: timeout)
        options.tls = tls
        options.proxying = LineProxy(endpoint: .address(listener.localAddress))
        var iterator = listener.makeAsyncIterator()
        let attempt = Task { [options] in try await Socket.connect(to: endpoint, options: options) }
        let peer = try #require(try await iterator.next())
        try await body(attempt, peer)
        await peer.close()
        await listener.close()
    }

    @Test("A refusal, an end and a reset are errors, and the connection is closed", arguments: ["no", "end", "reset"])
    func failing(kind: String) async throws {
        try await attempt { attempt, peer in
            _ = try await peer.readLine()
            switch kind {
            case "no": try await peer.write("no\n")
            case "end": await peer.finishWriting()
            default: await peer.reset()
            }
            let error = await #expect(throws: SocketError.self) { try await attempt.value }
            #expect(error?.code == (kind == "reset" ? .connectionReset : .proxyRefused))
            #expect(error?.message.contains("By the proxy") == true)
            #expect(error?.timeline?.attempts.count == 1)
        }
    }

    @Test("A proxy that stays silent is given up when the time is over")
    func silent() async throws {
        try await attempt(timeout: .milliseconds(50)) { attempt, peer in
            let error = await #expect(throws: SocketError.self) { try await attempt.value }
            #expect(error?.code == .timedOut)
        }
    }

    @Test("Cancelling ends it at once, in the conversation and in TLS behind it", arguments: [false, true])
    func cancelled(isSecured: Bool) async throws {
        let endpoint: Endpoint = isSecured ? .tls("target.invalid", port: 25) : .host("target.invalid", port: 25)
        try await attempt(to: endpoint) { attempt, peer in
            _ = try await peer.readLine()
            if isSecured {
                try await peer.write("yes\n")
                // The first bytes of its handshake: it is under way.
                _ = try await peer.read(exactly: 3)
            }
            attempt.cancel()
            await #expect(throws: CancellationError.self) { try await attempt.value }
        }
    }

    @Test("TLS is agreed upon with the target, behind the proxy")
    func secured() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["target.invalid"])
        var tls = TLSOptions()
        tls.trust = .roots(identity.certificates)
        try await attempt(to: .tls("target.invalid", port: 25), tls: tls) { attempt, peer in
            _ = try await peer.readLine()
            try await peer.write("yes\n")
            try await peer.startTLS(TLSServerOptions.patient(identity))
            try await peer.write("hello\n")
            let socket = try await attempt.value
            #expect(try await socket.readLine() == "hello")
            #expect(socket.timeline?.tls != nil)
            await socket.close()
        }
    }
}
