// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexSockets

/// haproxy in front of a listener, and what it says of its clients.
@Suite(.timeLimit(minutes: 5)) struct HAProxyTests {
    /// How the server line of haproxy's configuration ends, where client and server are, and what form must come.
    struct Line: Sendable, CustomTestStringConvertible {
        let options: String
        let host: String
        let version: ProxyHeader.Version

        var testDescription: String { "\(options) on \(host)" }
    }

    /// Where Debian and the others have it.
    private static func program() throws -> String {
        let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        let files = folders.map { $0 + "/haproxy" }
        guard let file = files.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw PeerProcess.Failed(description: "haproxy isn't there: run scripts/setup --tests")
        }
        return file
    }

    /// Runs haproxy between a listening socket, which it inherits, and a server.
    private static func withProxy(
        _ options: String,
        from front: Int32,
        to server: SocketAddress,
        _ body: () async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "duplex-haproxy-\(UUID().uuidString)")
        let configuration = """
            global
                maxconn 100
            defaults
                mode tcp
                timeout connect 30s
                timeout client 60s
                timeout server 60s
            listen all
                bind fd@3
                server one \(server) \(options)

            """
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let path = file.path(percentEncoded: false)
        let script = "exec \"$@\" 3<&0 </dev/null"
        let command = ["/bin/sh", "-c", script, "sh", try program(), "-V", "-db", "-f", path]
        try await PeerProcess.withRunning(command, input: front) { _, _ in try await body() }
    }

    /// A socket that listens, for haproxy to take over.
    private static func front(_ host: String) throws -> (descriptor: Int32, address: SocketAddress) {
        let wanted = try SocketAddress(host, port: 0)
        let descriptor = try ListeningSockets.bound(wanted, sharesPort: false)
        try ListeningSockets.listen(descriptor, wanted, backlog: 16)
        return (descriptor, try #require(SocketAddress.local(of: descriptor)))
    }

    @Test(
        "The client behind haproxy is known by its own address, and the streams are whole both ways",
        arguments: [
            Line(options: "send-proxy", host: "127.0.0.1", version: .v1),
            Line(options: "send-proxy", host: "::1", version: .v1),
            Line(options: "send-proxy-v2", host: "127.0.0.1", version: .v2),
            Line(options: "send-proxy-v2", host: "::1", version: .v2),
            Line(options: "send-proxy-v2 proxy-v2-options crc32c", host: "127.0.0.1", version: .v2),
        ]
    )
    func forwarding(line: Line) async throws {
        let listener = try SocketListener.bind(
            .tcp(host: .init(line.host), port: 0),
            proxyProtocol: .required(from: IPNetwork.loopback)
        )
        var iterator = listener.makeAsyncIterator()
        let front = try Self.front(line.host)
        defer { SystemCalls.close(front.descriptor) }
        try await Self.withProxy(line.options, from: front.descriptor, to: listener.localAddress) {
            let client = try await Socket.connect(to: .address(front.address))
            try await client.write("PROXY this is data\n")
            let socket = try #require(try await iterator.next())
            let header = try #require(socket.proxyHeader)
            #expect(header.version == line.version)
            #expect(!header.isLocal)
            #expect(socket.remoteAddress == client.localAddress)
            #expect(header.source == client.localAddress)
            #expect(header.destination == front.address)
            #expect(socket.proxyAddress?.host == line.host)
            #expect(socket.proxyAddress?.port != client.localAddress?.port)
            #expect((header.value(of: .checksum) != nil) == line.options.contains("crc32c"))
            #expect(try await socket.readLine(timeout: .limit(seconds: 60)) == "PROXY this is data")
            try await socket.write("answer\n")
            #expect(try await client.readLine(timeout: .limit(seconds: 60)) == "answer")
            await client.close()
            #expect(try await socket.read(timeout: .limit(seconds: 60)) == nil)
            await socket.close()
        }
        await listener.close()
    }

    @Test("haproxy that looks whether the server lives speaks for itself")
    func healthCheck() async throws {
        let listener = try SocketListener.bind(
            .tcp(host: "127.0.0.1", port: 0),
            proxyProtocol: .required(from: IPNetwork.loopback)
        )
        var iterator = listener.makeAsyncIterator()
        let front = try Self.front("127.0.0.1")
        defer { SystemCalls.close(front.descriptor) }
        try await Self.withProxy("send-proxy-v2 check inter 100ms", from: front.descriptor, to: listener.localAddress) {
            let socket = try #require(try await iterator.next())
            #expect(socket.proxyHeader?.isLocal == true)
            #expect(socket.proxyHeader?.source == nil)
            #expect(socket.remoteAddress == socket.proxyAddress)
            await socket.close()
        }
        await listener.close()
    }
}
