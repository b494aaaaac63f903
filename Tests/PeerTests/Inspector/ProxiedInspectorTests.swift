// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexInspector
import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Logging
import Synchronization
import Testing

extension PeerTests {
    /// The inspector behind nginx, which has TLS and shows the app below a path of its own.
    @Suite(.serialized) struct ProxiedInspectorTests {
        private static let host = "inspect.example.test"

        /// A value of the app.
        private final class Note: Sendable {
            private let state = Mutex("first")

            var text: String { state.withLock { $0 } }

            func set(_ text: String) { state.withLock { $0 = text } }
        }

        /// nginx in front of a server: the app below `/ops/app-1/`, and an inspector alone below `/look/`.
        private static func configuration(_ port: Int, _ folder: String, _ server: SocketAddress) -> String {
            let passing = """
                proxy_http_version 1.1;
                proxy_set_header Upgrade $http_upgrade;
                proxy_set_header Connection $connection_upgrade;
                proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                proxy_set_header X-Forwarded-Proto $scheme;
                """
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder)/\($0);\n"
            }
            return """
                error_log stderr notice;
                pid \(folder)/pid;
                worker_processes 1;
                events { worker_connections 256; }
                http {
                access_log off;
                map $http_upgrade $connection_upgrade { default upgrade; '' close; }
                \(temporary.joined())
                server {
                    listen 127.0.0.1:\(port) ssl;
                    ssl_certificate \(folder)/both.pem;
                    ssl_certificate_key \(folder)/both.pem;
                    \(passing)
                    proxy_set_header Host $http_host;
                    location /ops/app-1/ { proxy_pass http://\(server)/; }
                    location /look/ { proxy_pass http://\(server)/debug/inspector/; }
                }
                }

                """
        }

        /// Three inspectors: as it belongs behind a proxy, as it is by default, and for another host.
        private static func inspectors(
            _ server: inout WebServer,
            _ root: String,
            _ note: Note
        ) throws -> [Inspector] {
            var options = InspectorOptions()
            options.onStart = { _ in }
            let local = server.inspector("/local", options: options)
            options.answersOtherMachines = true
            options.hosts = ["elsewhere.example.test"]
            let elsewhere = server.inspector("/elsewhere", options: options)
            options.hosts = [host]
            options.allowedChanges = [.values, .files]
            options.folders = ["Documents": try SharedFolder(root)]
            options.values.add("Note", get: { note.text }, set: { note.set($0) })
            return [server.inspector("/debug/inspector", options: options), local, elsewhere]
        }

        @Test(
            "Chromium looks and changes behind nginx with TLS and paths of its own, where the app lets a proxy in",
            .timeLimit(minutes: 3)
        )
        func page() async throws {
            try await withTestFolder(["a.txt": "some text"]) { root async throws in
                let note = Note()
                var server = WebServer(host: "127.0.0.1", port: 0)
                server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                server.allowedHosts = [Self.host]
                server.webSocket("/proxied-page-socket") { socket in
                    for try await message in socket.messages { try await socket.send(message) }
                }
                let inspectors = try Self.inspectors(&server, root, note)
                try await server.withRunning { address async throws in
                    try await Self.behindProxy(address, inspectors)
                }
                #expect(note.text == "by way of the proxy")
                #expect(FileManager.default.fileExists(atPath: root + "made"))
            }
        }

        private static func behindProxy(_ address: SocketAddress, _ inspectors: [Inspector]) async throws {
            let identity = try TLSIdentity.selfSigned(for: [host])
            let pem = identity.certificatesPEM + identity.keyPEM
            let arguments = { (file: String) in ["-g", "daemon off;", "-c", file] }
            try await ForwardProxyTests.withProxy("nginx", arguments, ready: nil) { port, folder in
                ["both.pem": pem, "conf": configuration(port, folder, address)]
            } _: { port in
                let urls = inspectors.map { $0.address(below: "https://\(host):\(port)/ops/app-1") }
                let alone = "https://\(host):\(port)/look/?token=\(inspectors[0].token)"
                let shots = ProcessInfo.processInfo.environment["SCREENSHOTS"].map { ["SCREENSHOTS": $0] } ?? [:]
                let script = Peer.path("Tests/PeerTests/Peers/inspector_proxied.py")
                let output = try await PeerProcess.run(
                    [Peer.python, script, alone, "\(address)"] + urls,
                    environment: Peer.environment.merging(shots) { $1 }
                )
                let lines = output.split(separator: "\n")
                #expect(lines.count == 8 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
            }
        }
    }
}
#endif
