// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import Foundation
import Testing

/// A reverse proxy that others wrote, in front of a server, which names each request and logs what it has let through.
enum CorpusProxy: String, CaseIterable, CustomTestStringConvertible {
    /// Reads the body of a request before it asks the server.
    case nginx
    /// Hands bodies on as they come.
    case nginxStreaming
    case haproxy

    /// The field that names a request.
    static let field = "Way"

    /// What the proxy has logged of a request.
    struct Line: Equatable {
        /// The name that it has given to the request.
        let name: String
        /// The port that its client has connected from.
        let port: Int
        /// What the server has answered; `nil` where it wasn't asked.
        let status: Int?

        /// Reads `name port status`.
        init?(_ text: Substring) {
            let words = text.split(separator: " ")
            guard words.count == 3, let port = Int(words[1]) else { return nil }
            (name, self.port, status) = (String(words[0]), port, Int(words[2]))
        }
    }

    var testDescription: String { rawValue }

    /// Runs the proxy for the length of a closure.
    ///
    /// - Parameters:
    ///   - server: where it gets the answers.
    ///   - body: gets the proxy's port, and a way to read its log.
    /// - Throws: what `body` threw, or that the proxy didn't start.
    func withRunning(
        to server: SocketAddress,
        _ body: (SocketAddress, @Sendable () throws -> [Line]) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-corpus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path(percentEncoded: false)
        let reserved = try ReservedPort()
        defer { withExtendedLifetime(reserved) {} }
        let configuration = configuration(at: reserved.address, to: server, path)
        try configuration.write(to: folder.appending(path: "conf"), atomically: true, encoding: .utf8)
        // haproxy has its log at a descriptor.
        let script = "echo begins; exec \"$0\" \"$@\" 3>>\(path)/access"
        let command = ["/bin/sh", "-c", script] + (try self.command(path + "/conf"))
        try await PeerProcess.withRunning(command) { peer, _ in
            try await peer.waitForListener(at: reserved.address)
            try await body(reserved.address) { try Self.log(of: path) }
        }
    }

    private func command(_ file: String) throws -> [String] {
        self == .haproxy
            ? [try ForwardProxyTests.program("haproxy"), "-db", "-f", file]
            : [try ForwardProxyTests.program("nginx"), "-g", "daemon off;", "-c", file]
    }

    private static func log(of folder: String) throws -> [Line] {
        try String(contentsOfFile: folder + "/access", encoding: .utf8).split(separator: "\n").compactMap { Line($0) }
    }

    private func configuration(at port: SocketAddress, to server: SocketAddress, _ folder: String) -> String {
        self == .haproxy ? Self.haproxy(port, server) : nginx(port, server, folder)
    }

    private func nginx(_ port: SocketAddress, _ server: SocketAddress, _ folder: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/\($0);\n"
        }
        return """
            error_log stderr;
            pid \(folder)/pid;
            worker_processes 1;
            events { worker_connections 512; }
            http {
            \(temporary.joined())
            log_format way "$request_id $remote_port $upstream_status";
            access_log \(folder)/access way;
            # How long it reads on behind a body that it has refused.
            lingering_timeout 100ms;
            client_max_body_size 2m;
            upstream server { server \(server); keepalive 4; }
            server {
                listen \(port);
                location / {
                    proxy_pass http://server;
                    proxy_http_version 1.1;
                    proxy_request_buffering \(self == .nginx ? "on" : "off");
                    proxy_next_upstream off;
                    proxy_ignore_client_abort on;
                    proxy_set_header Host $http_host;
                    proxy_set_header Connection "";
                    proxy_set_header \(Self.field) $request_id;
                }
            }
            }

            """
    }

    private static func haproxy(_ port: SocketAddress, _ server: SocketAddress) -> String {
        """
        global
            maxconn 500
            log fd@3 format raw local0
        defaults
            mode http
            log global
            retries 0
            http-reuse always
            unique-id-format %cp-%rt
            unique-id-header \(field)
            log-format "%ID %cp %[var(txn.status)]"
            timeout connect 30s
            timeout client 60s
            timeout server 60s
        listen all
            bind \(port)
            http-response set-var(txn.status) status
            server one \(server) pool-max-conn 4

        """
    }
}
#endif
