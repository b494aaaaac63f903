// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.serialized) struct WebServerSignalsTests {
    @Test("A server runs until its process gets the signal, and then ends in order", .timeLimit(minutes: 1))
    func signal() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "" }
        // One that nothing else in these tests is about: who starts a process hands on what is caught here as ignored. It is
        // caught before the closure is called.
        try await server.run(until: .quit) { _ in kill(getpid(), SIGQUIT) }
    }

    @Test("SIGHUP has the app read its settings again, as often as it comes", .timeLimit(minutes: 1))
    func hangUp() async throws {
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.get("/") { _ in "old" }
        try await server.run(until: .quit) { address in
            Task {
                // Once the server serves, as the first response shows, the signal is caught.
                let peer = try await RawPeer.connect(to: address)
                let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
                #expect(try await peer.response(to: request).text == "old")
                kill(getpid(), SIGHUP)
            }
        } onHangUp: { running in
            try await running.replaceRoutes { routes in routes.get("/") { _ in "new" } }
            let peer = try await RawPeer.connect(to: running.addresses[0])
            #expect(try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").text == "new")
            kill(getpid(), SIGQUIT)
        }
    }

    // MARK: Certificates

    private static func write(_ identity: TLSIdentity, to folder: String) throws {
        try Data(identity.certificatesPEM.utf8).write(to: URL(fileURLWithPath: folder + "cert.pem"))
        try Data(identity.keyPEM.utf8).write(to: URL(fileURLWithPath: folder + "key.pem"))
    }

    private static func answers(_ address: SocketAddress, trusting identity: TLSIdentity) async throws -> Bool {
        var options = ConnectOptions()
        options.tls.trust = .roots(identity.certificates)
        let socket = try await Socket.connect(to: .tls("localhost", port: address.port), options: options)
        let peer = RawPeer(socket, masks: true)
        let response = try await peer.response(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await peer.close()
        return response.text == "ok"
    }

    /// Has a server's certificate renewed, and then spoiled.
    private static func renew(in folder: String, of address: SocketAddress, _ log: RecordedLog) async throws {
        let second = try TLSIdentity.selfSigned(for: ["localhost"])
        try write(second, to: folder)
        kill(getpid(), SIGHUP)
        let line = try await log.entry(of: "the certificate was read again")
        #expect(line.level == .notice && line.metadata["certificate"]?.contains("localhost") == true)
        #expect(try await answers(address, trusting: second))
        try Data().write(to: URL(fileURLWithPath: folder + "key.pem"))
        kill(getpid(), SIGHUP)
        let failure = try await log.entry(of: "the certificate can't be read again, and the old one stays")
        #expect(failure.level == .error && failure.metadata["error"]?.contains("key.pem") == true)
        #expect(try await answers(address, trusting: second))
    }

    @Test("SIGHUP has the files of a certificate read again; if that fails the old one stays", .timeLimit(minutes: 1))
    func certificate() async throws {
        try await withTestFolder { folder in
            let first = try TLSIdentity.selfSigned(for: ["localhost"])
            try Self.write(first, to: folder)
            let log = RecordedLog()
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.logger = log.logger
            server.get("/") { _ in "ok" }
            server.tls = try .pem(certificatesAt: folder + "cert.pem", keyAt: folder + "key.pem")
            try await server.run(until: .quit) { address in
                Task {
                    defer { kill(getpid(), SIGQUIT) }
                    await #expect(throws: Never.self) {
                        // Once the server serves, the signal is caught.
                        #expect(try await Self.answers(address, trusting: first))
                        try await Self.renew(in: folder, of: address, log)
                    }
                }
            }
        }
    }

    // MARK: Errors

    @Test("A port that is taken, and routes that are none, are thrown", .timeLimit(minutes: 1))
    func errors() async throws {
        let other = try await WebServer(host: "127.0.0.1", port: 0).start()
        let taken = WebServer(host: "127.0.0.1", port: other.addresses[0].port)
        await #expect(throws: SocketError.self) { try await taken.run(until: .quit) }
        await other.stop(within: .zero)
        var routes = WebServer(host: "127.0.0.1", port: 0)
        routes.get("nowhere") { _ in "" }
        let wrong = routes
        await #expect(throws: RouteError.self) { try await wrong.run(until: .quit) }
    }

    @Test("A program that goes on without its server is ended by the signals", .timeLimit(minutes: 1))
    func signalsAfterErrors() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.get("nowhere") { _ in "" }
            try? await server.run(until: .terminate)
            let other = try await WebServer(host: "127.0.0.1", port: 0).start()
            try? await WebServer(host: "127.0.0.1", port: other.addresses[0].port).run(until: .terminate)
            kill(getpid(), SIGTERM)
            try await Task.sleep(for: .seconds(10))
        }
    }

    @Test("A main program says in a sentence why its server can't run, and ends with 1", .timeLimit(minutes: 1))
    func mainProgramFails() async throws {
        let routes = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            var server = WebServer(host: "127.0.0.1", port: 0)
            server.get("nowhere") { _ in "" }
            await server.runAndExit()
        }
        let port = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            let other = try await WebServer(host: "127.0.0.1", port: 0).start()
            await WebServer(host: "127.0.0.1", port: other.addresses[0].port).runAndExit(until: .quit)
        }
        let texts = [routes, port].map { String(decoding: $0?.standardErrorContent ?? [], as: UTF8.self) }
        #expect(texts[0].contains("The server can't run: GET nowhere: A path begins with a slash.\n"))
        #expect(texts[1].contains("The server can't run: ") && texts[1].contains("127.0.0.1:"))
    }

    @Test("A main program ends with 0 after SIGTERM", .timeLimit(minutes: 1))
    func mainProgramEnds() async {
        await #expect(processExitsWith: .success) {
            // It is caught before the closure is called.
            await WebServer(host: "127.0.0.1", port: 0).runAndExit { _ in kill(getpid(), SIGTERM) }
        }
    }

    @Test("Being cancelled ends it as well", .timeLimit(minutes: 1))
    func cancelled() async throws {
        let (listening, tell) = AsyncStream<Void>.makeStream()
        let server = WebServer(host: "127.0.0.1", port: 0)
        let task = Task { try await server.run(until: .quit) { _ in tell.yield() } }
        for await _ in listening { break }
        task.cancel()
        try await task.value
    }
}
