// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestProcesses
import HTTPTypes
import Testing

@testable import DuplexServer
@testable import DuplexSockets

@Suite struct ListenerTests {
    @Test("One server listens on several addresses, plain and secured, TCP and Unix, with the same routes")
    func several() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        var server = WebServer(port: 0)
        server.get("/") { request in request.tls == nil ? "plain" : "secured" }
        server.listen(on: Listener(.tcp(host: "127.0.0.1", port: 0), tls: TLSServerOptions(identity)))
        server.listen(on: Listener(.unix("@duplex-listener-\(UInt32.random(in: 0 ... .max))")))
        let running = try await server.start()
        #expect(running.addresses.count == 3)
        #expect(running.urls.map { $0.hasPrefix("https:") } == [false, true])
        for (address, text) in zip(running.addresses, ["plain", "secured", "plain"]) {
            var options = ConnectOptions()
            options.tls.trust = .roots(identity.certificates)
            let isSecured = text == "secured"
            let endpoint = isSecured ? Endpoint.tls("localhost", port: address.port) : .address(address)
            let socket = try await Socket.connect(to: endpoint, options: options)
            let peer = RawPeer(socket, masks: true)
            #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").text == text)
        }
        await running.stop()
    }

    @Test(
        "A request in the clear at a port that has TLS is answered by a sentence, and the connection ends",
        arguments: ["GET", "HEAD", "PROPFIND", "POST"]
    )
    func plainRequest(method: String) async throws {
        var server = WebServer(port: 0)
        server.tls = TLSServerOptions(try TLSIdentity.selfSigned(for: ["localhost"]))
        server.on(HTTPRequest.Method(method) ?? .get, "/") { _ in "by its route" }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        // More than is read before the answer.
        let body = String(repeating: "x", count: method == "POST" ? 100_000 : 0)
        try await peer.send("\(method) / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        let answer = try await peer.readResponse(to: method)
        #expect(answer.status == 400 && answer["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.text.contains("HTTPS") == (method != "HEAD"))
        #expect(try await peer.isAtEnd())
        await running.stop()
    }

    @Test("Where one address can't be had, none is listened on")
    func taken() async throws {
        try await withReservedPort { reserved in
            let other = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
            var server = WebServer(host: "127.0.0.1", port: reserved.port)
            server.listen(on: Listener(.tcp(host: "127.0.0.1", port: other.localAddress.port)))
            await #expect(throws: SocketError.self) { try await server.start() }
            // It is free again.
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: reserved.port))
            await listener.close()
            await other.close()
        }
    }

    @Test("HTTP is what clients agree on by ALPN, unless the options say otherwise")
    func protocols() throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        #expect(Listener(.tcp(port: 0)).withProtocol.tls == nil)
        var listener = Listener(.tcp(port: 0), tls: TLSServerOptions(identity))
        #expect(listener.withProtocol.tls?.applicationProtocols == ["http/1.1"])
        listener.tls?.applicationProtocols = ["other"]
        #expect(listener.withProtocol.tls?.applicationProtocols == ["other"])
    }

    @Test("Options of sockets hold for the connections that it takes")
    func options() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.listener.options.keepalive = .after(.seconds(77))
        server.listener.backlog = 8
        server.get("/") { _ in "ok" }
        let running = try await server.start()
        let peer = try await RawPeer.connect(to: running.addresses[0])
        #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200)
        let address = running.addresses[0]
        let descriptors = ThreadCensus.entries(of: "/proc/self/fd").compactMap { Int32($0) }
        let accepted = descriptors.filter { descriptor in
            SocketAddress.local(of: descriptor) == address && (try? AdoptedDescriptor.listening(descriptor)) == nil
        }.compactMap { try? SocketOptions(of: $0, family: .ipv4).keepalive }
        #expect(accepted.map(\.idle) == [.seconds(77)])
        await running.stop()
    }
}
