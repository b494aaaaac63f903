// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@Suite("TLS with a server through a proxy that is reached by TLS")
struct TLSWithinTLSTests {
    /// Accepts a client by TLS as a proxy does, and connects it to the server.
    private static func tunnel(
        _ identity: TLSIdentity,
        _ accept: Incoming,
        to address: SocketAddress
    ) async throws -> (near: RawPeer, far: Socket) {
        let near = try await accept()
        try await near.socket.startTLS(TLSServerOptions.patient(identity))
        let head = try await near.readHead()
        #expect(head.hasPrefix("CONNECT localhost:\(address.port) HTTP/1.1\r\n"))
        let far = try await Socket.connect(to: .address(address))
        try await near.send("HTTP/1.1 200 OK\r\n\r\n")
        return (near, far)
    }

    /// Hands on what comes, in pieces of that size.
    private static func relay(_ from: Socket, _ to: Socket, pieces size: Int = 1 << 20) async {
        while let bytes = try? await from.read(timeout: .limit(seconds: 20)) {
            var rest = bytes[...]
            while !rest.isEmpty {
                guard (try? await to.write(Array(rest.prefix(size)))) != nil else { return }
                rest = rest.dropFirst(size)
            }
        }
        await to.finishWriting()
    }

    private static func trusting(_ identity: TLSIdentity) -> TLSOptions {
        var options = TLSOptions()
        options.trust = .roots(identity.certificates)
        options.serverName = "localhost"
        return options
    }

    @Test("TLS with the server goes through TLS with the proxy, in any pieces, to the end", arguments: [5, 1 << 20])
    func securedTwice(pieces: Int) async throws {
        let (outer, inner) = (
            try TLSIdentity.selfSigned(for: ["localhost"]), try TLSIdentity.selfSigned(for: ["localhost"])
        )
        // Small pieces are many trips through the threads that all tests share.
        let patience = Duration.limit(seconds: 100)
        try await withServer { server in
            var tls = TLSServerOptions.patient(inner)
            tls.handshakeTimeout = patience
            server.tls = tls
            server.limits.http.headTime = patience
            server.webSockets.pings = .disabled
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            try await withIncoming { listener, accept in
                var options = WebSocketOptions()
                options.compression = .disabled
                options.connectTimeout = patience
                options.pings = .disabled
                options.tls.handshakeTimeout = patience
                options.tls.trust = .roots(inner.certificates)
                let port = try WebSocketURL(listener).port
                options.proxy = .http("127.0.0.1", port: port, tls: Self.trusting(outer))
                let attempt = Task { [options] in
                    try await WebSocket.connect(to: "wss://localhost:\(address.port)/", options: options)
                }
                let (near, far) = try await Self.tunnel(outer, accept, to: address)
                async let up: Void = Self.relay(near.socket, far, pieces: pieces)
                async let down: Void = Self.relay(far, near.socket, pieces: pieces)
                let socket = try await attempt.value
                let timeline = await socket.timeline
                #expect(timeline.security?.version == .tls13 && timeline.handshake?.connecting?.proxy != nil)
                for size in pieces < 100 ? [1, 3_000] : [1, 20_000, 1_000_000] {
                    let message = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                    try await socket.send(message)
                    #expect(try await socket.receive() == .binary(message))
                }
                #expect(await socket.close().isClean)
                await near.reset()
                await far.reset()
                _ = await (up, down)
            }
        }
    }

    @Test("A server that isn't trusted isn't spoken with, through a proxy that is")
    func untrustedWithin() async throws {
        let (outer, inner) = (
            try TLSIdentity.selfSigned(for: ["localhost"]), try TLSIdentity.selfSigned(for: ["localhost"])
        )
        try await withServer { server in
            server.tls = TLSServerOptions.patient(inner)
            server.webSocket("/") { _ in }
        } _: { address in
            try await withIncoming { listener, accept in
                var options = WebSocketOptions()
                // The proxy's certificate says nothing of the server's.
                options.tls.trust = .roots(outer.certificates)
                let port = try WebSocketURL(listener).port
                options.proxy = .http("127.0.0.1", port: port, tls: Self.trusting(outer))
                async let error = failure(of: "wss://localhost:\(address.port)/", options)
                let (near, far) = try await Self.tunnel(outer, accept, to: address)
                async let up: Void = Self.relay(near.socket, far)
                async let down: Void = Self.relay(far, near.socket)
                #expect((await error?.cause as? SocketError)?.code == .untrustedPeer)
                await near.reset()
                await far.reset()
                _ = await (up, down)
            }
        }
    }

    @Test("A proxy that cuts the tunnel within the server's TLS is an error, and no connection")
    func cutWithin() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        try await withIncoming { listener, accept in
            var options = WebSocketOptions()
            options.proxy = .http("127.0.0.1", port: try WebSocketURL(listener).port, tls: Self.trusting(identity))
            async let error = failure(of: "wss://localhost:1/", options)
            let near = try await accept()
            try await near.socket.startTLS(TLSServerOptions.patient(identity))
            _ = try await near.readHead()
            try await near.send("HTTP/1.1 200 OK\r\n\r\n")
            // The first record of the inner handshake.
            #expect(try await near.read(exactly: 1) == [22])
            await near.close()
            #expect(await error?.stage == .tls)
        }
    }
}
