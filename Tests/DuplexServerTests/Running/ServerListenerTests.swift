// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import HTTPTypes
import Testing

@testable import DuplexServer
@testable import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Sockets that the system takes away, as it does to apps that it suspends: here by shutting them down behind the
/// server's back.
@Suite(.timeLimit(minutes: 2)) struct ServerListenerTests {
    private static let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func server(_ log: RecordedLog) -> WebServer {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = log.logger
        server.get("/") { _ in "ok" }
        return server
    }

    /// Copies of the sockets that listen there, of which the server knows nothing.
    private func copies(of address: SocketAddress) -> [Int32] {
        ThreadCensus.entries(of: "/proc/self/fd").compactMap { Int32($0) }
            .filter { (try? AdoptedDescriptor.listening($0)) == address }
            .map { dup($0) }
    }

    /// Shuts down what listens there.
    ///
    /// All are had before the first is shut down: the server is back at once, with the same numbers.
    private func takeAway(_ address: SocketAddress) -> Int {
        copies(of: address).filter { descriptor in
            defer { Glibc.close(descriptor) }
            return shutdown(descriptor, Int32(SHUT_RDWR)) == 0
        }.count
    }

    private enum Kind: CaseIterable {
        case v4, v6, unix

        func address(in folder: URL, _ port: Int) -> ListenAddress {
            switch self {
            case .v4: .tcp(host: "127.0.0.1", port: port)
            case .v6: .tcp(host: "::1", port: port)
            case .unix: .unix(folder.appending(path: "socket").path(percentEncoded: false))
            }
        }
    }

    @Test(
        "A listener that the system has taken away is back by itself, at the same port, and connections go on",
        arguments: Kind.allCases
    )
    private func regained(kind: Kind) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withReservedPort { reserved in
            let log = RecordedLog()
            var server = server(log)
            server.listener.address = kind.address(in: folder, reserved.port)
            let running = try await server.start()
            let address = running.addresses[0]
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: Self.request).text == "ok")
            for times in 1...2 {
                #expect(takeAway(address) > 0)
                let line = try await log.entry(of: "a listener is back", times: times)
                #expect(line.metadata["address"] == "\(address)")
            }
            #expect(running.addresses == [address])
            // Once for each loss, though each loop has told of it.
            #expect(log.entries.filter { $0.message == "a listener was lost" }.count == 2)
            let other = try await RawPeer.connect(to: address)
            #expect(try await other.response(to: Self.request).text == "ok")
            #expect(try await peer.response(to: Self.request).text == "ok")
            await running.stop()
        }
    }

    @Test("Of several listeners the one that is lost is back, one with TLS as well, and the others go on")
    func several() async throws {
        try await withReservedPort { reserved in
            let log = RecordedLog()
            var server = server(log)
            let identity = try TLSIdentity.selfSigned(for: ["localhost"])
            let address = ListenAddress.tcp(host: "127.0.0.1", port: reserved.port)
            server.listen(on: Listener(address, tls: TLSServerOptions.patient(identity)))
            let running = try await server.start()
            let (plain, secured) = (running.addresses[0], running.addresses[1])
            #expect(takeAway(secured) > 0)
            let line = try await log.entry(of: "a listener is back")
            #expect(line.metadata["address"] == "\(secured)" && running.addresses == [plain, secured])
            var options = ConnectOptions()
            options.tls.trust = .roots(identity.certificates)
            let socket = try await Socket.connect(to: .tls("localhost", port: secured.port), options: options)
            #expect(try await RawPeer(socket, masks: true).response(to: Self.request).text == "ok")
            let peer = try await RawPeer.connect(to: plain)
            #expect(try await peer.response(to: Self.request).text == "ok")
            #expect(log.entries.filter { $0.message == "a listener was lost" }.count == 1)
            await running.stop()
        }
    }

    @Test("A server that is stopped while its listener is gone ends")
    func stopped() async throws {
        let running = try await server(RecordedLog()).start()
        #expect(takeAway(running.addresses[0]) > 0)
        await running.stop()
    }

    @Test("Nothing of a server that has stopped listens on, even where a process just being started has copies")
    func copied() async throws {
        try await withReservedPort { address in
            var server = server(RecordedLog())
            server.listener.address = .tcp(host: .address(address.host), port: address.port)
            let running = try await server.start()
            let kept = copies(of: address)
            #expect(!kept.isEmpty)
            await running.stop()
            await #expect(throws: SocketError.self) { try await Socket.connect(to: .address(address)) }
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: address.port))
            // Nor where nobody ever served.
            let bound = copies(of: address)
            await listener.close()
            await #expect(throws: SocketError.self) { try await Socket.connect(to: .address(address)) }
            for descriptor in kept + bound { Glibc.close(descriptor) }
        }
    }

    @Test("An app may have listeners bound again; one that somebody else made can't be")
    func restart() async throws {
        try await withReservedPort { address in
            var server = server(RecordedLog())
            server.listener.address = .tcp(host: .address(address.host), port: address.port)
            let running = try await server.start()
            try await running.restartListeners()
            #expect(running.addresses == [address])
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: Self.request).text == "ok")
            await running.stop()
            // Behind the end nothing is bound.
            try await running.restartListeners()
            #expect(await comesToRefuse(.address(address)))
        }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(listen(descriptor, 8) == 0)
        let log = RecordedLog()
        var inherited = server(log)
        inherited.listener.address = .descriptor(descriptor)
        let other = try await inherited.start()
        await #expect {
            try await other.restartListeners()
        } throws: {
            ($0 as? SocketError)?.code == .cannotBind
        }
        // Nor when it is lost, which is told once.
        #expect(takeAway(other.addresses[0]) > 0)
        _ = try await log.entry(of: "a listener isn't back")
        await other.stop()
        #expect(log.entries.filter { $0.message == "a listener isn't back" }.count == 1)
    }

    @Test("Of several who have listeners bound again at once each has it done, and the port is there behind it")
    func restartsAtOnce() async throws {
        let running = try await server(RecordedLog()).start()
        let address = running.addresses[0]
        for _ in 0..<8 {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<4 { tasks.addTask { try await running.restartListeners() } }
                try await tasks.waitForAll()
            }
            #expect(running.addresses == [address])
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: Self.request).text == "ok")
            await peer.close()
        }
        // Nobody is left who listens there beside the server.
        async let restart: Void = running.restartListeners()
        await running.stop()
        try await restart
        await #expect(throws: SocketError.self) { try await RawPeer.connect(to: address) }
    }

    @Test("What can't be bound names the listener that it was for")
    func named() async throws {
        var server = server(RecordedLog())
        server.listen(on: Listener(.tcp(host: "203.0.113.7", port: 4_321)))
        let error = await #expect(throws: SocketError.self) { try await server.start() }
        #expect(error?.code == .cannotBind)
        // Once: the system's own message may have it already.
        #expect(error?.message.split(separator: "203.0.113.7:4321", omittingEmptySubsequences: false).count == 2)
    }
}

@Suite struct ListenerTests {
    @Test("One server listens on several addresses, plain and secured, TCP and Unix, with the same routes")
    func several() async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        var server = WebServer(port: 0)
        server.get("/") { request in request.tls == nil ? "plain" : "secured" }
        server.listen(on: Listener(.tcp(host: "127.0.0.1", port: 0), tls: TLSServerOptions.patient(identity)))
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
        var listener = Listener(.tcp(port: 0), tls: TLSServerOptions.patient(identity))
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
