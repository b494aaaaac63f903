// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

/// Connections of ours by way of the forward proxies that others run: tinyproxy, squid and dante.
@Suite(.serialized, .timeLimit(minutes: 5)) struct ForwardProxyTests {
    private static let credentials = PasswordCredentials(user: "mia", password: "pw")

    static func program(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin", "/usr/bin"]
        let files = folders.map { $0 + "/" + name }
        guard let file = files.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw PeerProcess.Failed(description: "\(name) isn't there: run scripts/setup --tests")
        }
        return file
    }

    /// Runs a proxy with a configuration in a folder of its own.
    static func withProxy(
        _ name: String,
        _ arguments: (String) -> [String],
        ready: String?,
        files: (Int, String) -> [String: String],
        _ body: (Int) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-proxy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path(percentEncoded: false)
        // Held meanwhile, so that no other test gets it; they all listen there although it is.
        let reserved = try ReservedPort()
        defer { withExtendedLifetime(reserved) {} }
        let port = reserved.address.port
        for (file, text) in files(port, path) {
            try text.write(to: folder.appending(path: file), atomically: true, encoding: .utf8)
        }
        let command = [try program(name)] + arguments(path + "/conf")
        try await PeerProcess.withRunning(command) { peer, _ in
            if let ready { try await peer.waitForLine(containing: ready) }
            // Some print that they listen a moment before they do.
            try await peer.waitForListener(at: reserved.address)
            try await body(port)
        }
    }

    /// Sends and receives by way of a proxy, in the clear and with TLS, to a name that the proxy looks up.
    private static func expectEcho(by proxy: ProxySettings) async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        for isSecured in [false, true] {
            var server = WebServer(host: "127.0.0.1", port: 0)
            if isSecured { server.tls = TLSServerOptions.patient(identity) }
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
            try await server.withRunning { address in
                var options = WebSocketOptions()
                // The proxy asks a program of its own who that is, which begins with the first request.
                options.connectTimeout = .seconds(120)
                options.proxy = proxy
                options.tls.trust = .roots(identity.certificates)
                let url = "\(isSecured ? "wss" : "ws")://localhost:\(address.port)/"
                let socket = try await WebSocket.connect(to: url, options: options)
                let text = String(repeating: "through a proxy ", count: 10_000)
                try await socket.send(text)
                #expect(try await socket.receive() == .text(text))
                let report = await socket.close()
                #expect(report.isClean)
            }
        }
    }

    private static func refusal(by proxy: ProxySettings) async -> WebSocketError? {
        var options = WebSocketOptions()
        options.connectTimeout = .seconds(120)
        options.proxy = proxy
        let error = await #expect(throws: WebSocketError.self) {
            try await WebSocket.connect(to: "ws://localhost:9/", options: options)
        }
        return error
    }

    @Test("tinyproxy, which asks for Basic")
    func tinyproxy() async throws {
        let arguments = { (file: String) in ["-d", "-c", file] }
        let files = { (port: Int, _: String) in
            ["conf": "Port \(port)\nListen 127.0.0.1\nAllow 127.0.0.1\nBasicAuth mia pw\nTimeout 60\nLogLevel Info\n"]
        }
        try await Self.withProxy("tinyproxy", arguments, ready: "Accepting connections", files: files) {
            port in
            try await Self.expectEcho(by: .http("127.0.0.1", port: port, credentials: Self.credentials))
            let stranger = await Self.refusal(by: .http("127.0.0.1", port: port))
            #expect(stranger?.proxy?.code == .unauthorized)
            let wrong = PasswordCredentials(user: "mia", password: "other")
            let mistaken = await Self.refusal(by: .http("127.0.0.1", port: port, credentials: wrong))
            #expect(mistaken?.stage == .proxy)
            let closed = await Self.refusal(by: .http("127.0.0.1", port: port, credentials: Self.credentials))
            #expect(closed?.proxy != nil)
        }
    }

    @Test("squid, which asks for Digest")
    func squid() async throws {
        let files = { (port: Int, folder: String) in
            [
                "users": "mia:pw\n",
                "conf": """
                http_port 127.0.0.1:\(port)
                pid_filename none
                cache deny all
                cache_log stdio:/dev/stderr
                access_log none
                pinger_enable off
                shutdown_lifetime 0 seconds
                coredump_dir \(folder)
                auth_param digest program /usr/lib/squid/digest_file_auth \(folder)/users
                auth_param digest children 1
                auth_param digest realm duplex
                acl known proxy_auth REQUIRED
                http_access allow known
                http_access deny all

                """,
            ]
        }
        let arguments = { (file: String) in ["-N", "-d", "1", "-f", file] }
        try await Self.withProxy("squid", arguments, ready: "Accepting HTTP Socket connections", files: files) { port in
            try await Self.expectEcho(by: .http("127.0.0.1", port: port, credentials: Self.credentials))
            let stranger = await Self.refusal(by: .http("127.0.0.1", port: port))
            #expect(stranger?.proxy?.code == .unauthorized)
        }
    }

    /// It takes the address of a request of 4a, which no machine has, for where to connect to.
    @Test("dante, by SOCKS 4 and 5, with names looked up here and there")
    func dante() async throws {
        let arguments = { (file: String) in ["-f", file, "-N", "1"] }
        let files = { (port: Int, _: String) in
            [
                "conf": """
                logoutput: stdout
                internal: 127.0.0.1 port = \(port)
                external: lo
                clientmethod: none
                socksmethod: none
                user.privileged: root
                user.unprivileged: nobody
                client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
                socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 log: error connect }

                """
            ]
        }
        try await Self.withProxy("danted", arguments, ready: nil, files: files) { port in
            try await Self.expectEcho(by: .socks4("127.0.0.1", port: port))
            try await Self.expectEcho(by: .socks5("127.0.0.1", port: port))
            try await Self.expectEcho(by: .socks5h("127.0.0.1", port: port))
            let closed = await Self.refusal(by: .socks5h("127.0.0.1", port: port))
            #expect(closed?.proxy?.code == .unreachable)
        }
    }

    @Test("microsocks, by SOCKS 5 with a password")
    func microsocks() async throws {
        let reserved = try ReservedPort()
        defer { withExtendedLifetime(reserved) {} }
        let port = reserved.address.port
        // It says nothing by itself.
        let start = "echo starting; exec \(try Self.program("microsocks")) -i 127.0.0.1 -p \(port) -u mia -P pw"
        try await PeerProcess.withRunning(["/bin/sh", "-c", start]) { peer, _ in
            try await peer.waitForListener(at: reserved.address)
            try await Self.expectEcho(by: .socks5("127.0.0.1", port: port, credentials: Self.credentials))
            try await Self.expectEcho(by: .socks5h("127.0.0.1", port: port, credentials: Self.credentials))
            let stranger = await Self.refusal(by: .socks5h("127.0.0.1", port: port))
            #expect(stranger?.proxy?.code == .unauthorized)
            let other = PasswordCredentials(user: "mia", password: "other")
            let mistaken = await Self.refusal(by: .socks5h("127.0.0.1", port: port, credentials: other))
            #expect(mistaken?.proxy?.code == .unauthorized)
        }
    }

    @Test("asyncssh, which forwards what it is asked for by SOCKS 4a to a server of SSH")
    func asyncssh() async throws {
        try await PeerProcess.withRunning([Peer.python, Peer.path("Tests/PeerTests/Peers/socks_peer.py")]) { _, line in
            let port = try #require(Int(line), "\(line)")
            try await Self.expectEcho(by: .socks4a("127.0.0.1", port: port, user: "mia"))
            try await Self.expectEcho(by: .socks5h("127.0.0.1", port: port))
        }
    }
}
#endif
