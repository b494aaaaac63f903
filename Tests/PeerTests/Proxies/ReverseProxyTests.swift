// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

/// Servers of ours behind the reverse proxies that others run: nginx and haproxy, which take the connections in the clear
/// and with TLS, and make theirs to the server in the clear and with TLS.
@Suite(.serialized, .timeLimit(minutes: 5)) struct ReverseProxyTests {
    enum Program: String, CaseIterable, CustomTestStringConvertible {
        case nginx
        case haproxy

        var testDescription: String { rawValue }
    }

    /// Where the proxy takes connections, and where it makes them to.
    private struct Way: Sendable {
        let port: Int
        let isSecured: Bool
        let server: SocketAddress
        let isServerSecured: Bool

        var url: String { "\(isSecured ? "wss" : "ws")://localhost:\(port)" }
    }

    private static func nginx(_ ways: [Way], _ folder: String) -> String {
        let servers = ways.map { way in
            """
            server {
                listen 127.0.0.1:\(way.port)\(way.isSecured ? " ssl" : "");
                ssl_certificate \(folder)/both.pem;
                ssl_certificate_key \(folder)/both.pem;
                location / {
                    proxy_pass \(way.isServerSecured ? "https" : "http")://\(way.server);
                    proxy_http_version 1.1;
                    proxy_set_header Host $http_host;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection "upgrade";
                    proxy_ssl_name localhost;
                    proxy_ssl_server_name on;
                    proxy_ssl_verify on;
                    proxy_ssl_trusted_certificate \(folder)/both.pem;
                }
            }

            """
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/\($0);\n"
        }
        return """
            error_log stderr notice;
            pid \(folder)/pid;
            worker_processes 1;
            events { worker_connections 64; }
            http {
            access_log off;
            \(temporary.joined())\(servers.joined())}

            """
    }

    private static func haproxy(_ ways: [Way], _ folder: String) -> String {
        let pairs = ways.enumerated().map { number, way in
            """
            listen way\(number)
                bind 127.0.0.1:\(way.port)\(way.isSecured ? " ssl crt \(folder)/both.pem" : "")
                server one \(way.server)\(way.isServerSecured ? " ssl verifyhost localhost ca-file \(folder)/both.pem" : "")

            """
        }
        return """
            global
                maxconn 100
            defaults
                mode http
                option abortonclose
                timeout connect 30s
                timeout client 60s
                timeout server 60s
                timeout tunnel 60s
            \(pairs.joined())
            """
    }

    private static func withProxy(
        _ program: Program,
        _ identity: TLSIdentity,
        to servers: [(SocketAddress, isSecured: Bool)],
        _ body: ([Way]) async throws -> Void
    ) async throws {
        var ways: [Way] = []
        // Until the proxy has gone, or two ways may get the same one.
        var reserved: [ReservedPort] = []
        defer { withExtendedLifetime(reserved) {} }
        for (address, isServerSecured) in servers {
            for isSecured in [false, true] {
                let own = try ReservedPort()
                reserved.append(own)
                let port = own.address.port
                ways.append(
                    Way(port: port, isSecured: isSecured, server: address, isServerSecured: isServerSecured)
                )
            }
        }
        let arguments = { (file: String) in
            program == .nginx ? ["-g", "daemon off;", "-c", file] : ["-V", "-db", "-f", file]
        }
        let pem = identity.certificatesPEM + identity.keyPEM
        try await ForwardProxyTests.withProxy(program.rawValue, arguments, ready: nil) { [ways] port, folder in
            // The first one is waited for, and is there only then.
            let sign = Way(port: port, isSecured: false, server: servers[0].0, isServerSecured: servers[0].isSecured)
            let configuration = program == .nginx ? nginx(ways + [sign], folder) : haproxy(ways + [sign], folder)
            return ["both.pem": pem, "conf": configuration]
        } _: { [ways] _ in
            try await body(ways)
        }
    }

    @Test(
        "A server behind a reverse proxy, in the clear and with TLS, with and without compression",
        arguments: Program.allCases
    )
    func echo(program: Program) async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        let plain = EchoServer(compression: .enabled)
        let secured = EchoServer(compression: .enabled)
        var securedServer = secured.server
        securedServer.tls = TLSServerOptions.patient(identity)
        try await plain.server.withRunning { [securedServer] plainAddress in
            try await securedServer.withRunning { securedAddress in
                let servers = [(plainAddress, isSecured: false), (securedAddress, isSecured: true)]
                try await Self.withProxy(program, identity, to: servers) { ways in
                    for way in ways {
                        for compression in [WebSocketCompression.disabled, .required] {
                            try await Self.converse(way.url, identity, compression)
                        }
                    }
                }
            }
        }
        // Each way and with each compression, one connection that the client closed.
        let expected = CloseFrame(code: CloseCode(rawValue: 4_001), reason: "from the client")
        for echo in [plain, secured] { #expect(echo.closes.received.count { $0 == expected } == 4) }
    }

    private static func converse(
        _ url: String,
        _ identity: TLSIdentity,
        _ compression: WebSocketCompression
    ) async throws {
        var options = Corpus.options
        options.tls.trust = .roots(identity.certificates)
        options.compression = compression
        options.subprotocols = ["chat.v1"]
        // As a browser does, which the server then holds to be of the same host.
        options.origin = .ofURL
        let socket = try await WebSocket.connect(to: url + EchoServer.Path.handler.rawValue, options: options)
        #expect(socket.subprotocol == "chat.v1")
        let isCompressed = await socket.compression != nil
        #expect(isCompressed == compression.isRequired)
        for message in Corpus.messages where message.byteCount <= 70_000 {
            try await socket.send(message)
            let echo = try await socket.receive()
            #expect(echo == message, "of \(message.byteCount) bytes")
        }
        _ = try await socket.ping()
        let report = await socket.close(code: CloseCode(rawValue: 4_001), reason: "from the client")
        #expect(report.isClean)
        let commanded = try await WebSocket.connect(to: url + "/commands", options: options)
        try await commanded.send("close 4002 from the server")
        await #expect(throws: WebSocketError.self) { try await commanded.receive() }
        let received = await commanded.close().received
        #expect(received == CloseFrame(code: CloseCode(rawValue: 4_002), reason: "from the server"))
    }

    @Test("Events pass a reverse proxy as they are published", arguments: Program.allCases)
    func events(program: Program) async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        let feed = EventFeed()
        var server = WebServer(port: 0)
        server.events("/feed", of: feed)
        try await server.withRunning { address in
            try await Self.withProxy(program, identity, to: [(address, isSecured: false)]) { ways in
                for way in ways {
                    let url = "\(way.isSecured ? "https" : "http")://localhost:\(way.port)/feed"
                    try await PeerProcess.withRunning(["/usr/bin/env", "curl", "-skN", url]) { curl, line in
                        #expect(line == "id: \(feed.lastID)")
                        for number in 0..<3 {
                            try feed.publish("\(number)", id: "\(number)")
                            try await curl.waitForLine(containing: "data: \(number)")
                        }
                    }
                }
            }
        }
    }

    @Test("The handler of an event stream is cancelled when a client behind a proxy goes", arguments: Program.allCases)
    func eventsEnd(program: Program) async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        let (endings, ending) = AsyncStream<Void>.makeStream()
        var server = WebServer(port: 0)
        server.events("/ticks") { stream in
            defer { ending.yield() }
            try await stream.send("first")
            // Only its being cancelled ends that.
            let (never, _) = AsyncStream<Never>.makeStream()
            for await _ in never {}
        }
        try await server.withRunning { address in
            try await Self.withProxy(program, identity, to: [(address, isSecured: false)]) { ways in
                for way in ways {
                    let url = "\(way.isSecured ? "https" : "http")://localhost:\(way.port)/ticks"
                    try await PeerProcess.withRunning(["/usr/bin/env", "curl", "-skN", url]) { curl, line in
                        #expect(line == "data: first")
                        curl.kill()
                        for await _ in endings { break }
                    }
                }
            }
        }
    }
}
#endif
