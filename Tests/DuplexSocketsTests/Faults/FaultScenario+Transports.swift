// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if DEBUG && os(Linux)
import Glibc
import Testing

@testable import DuplexSockets

// What is particular to some ways to connect.

extension FaultScenario {
    static let identity = Result { try TLSIdentity.selfSigned(for: ["localhost"]) }

    /// Where a client goes, and how.
    func client(of listener: SocketListener, _ path: String) throws -> (Endpoint, ConnectOptions) {
        var options = ConnectOptions(timeout: Self.patience)
        let port = listener.localAddress.port
        switch transport {
        case .unix: return (.unix(path), options)
        case .tls:
            options.tls.trust = .roots(try Self.identity.get().certificates)
            return (.tls("localhost", port: port), options)
        case .local:
            options.localAddress = .address("127.0.0.1")
            return (.address(try SocketAddress("127.0.0.1", port: port)), options)
        case .tcp, .file, .udp: return (.host("localhost", port: port), options)
        }
    }

    // MARK: A file

    /// The payload, in a file.
    static func leavePayload(_ path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { SystemCalls.close(descriptor) }
        let written = unsafe payload.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        try #require(written == payload.count)
    }

    /// Writes the payload: from memory, or from a file, of which the system moves one half and this process the other.
    static func writePayload(to client: Socket, from path: String?, _ errors: Errors) async throws {
        guard let path else { return try await client.write(payload, timeout: patience) }
        do {
            try await writeFile(path, to: client)
        } catch is CancellationError {
            // The reading has failed already.
        } catch {
            // Nothing more comes back, and whoever waits for it doesn't know why.
            errors.add(error)
            await client.reset()
        }
    }

    private static func writeFile(_ path: String, to client: Socket) async throws {
        let half = UInt64(payload.count / 2)
        try await client.writeFile(path, count: half, timeout: patience)
        await client.sendFilesThroughChannel()
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { SystemCalls.close(descriptor) }
        try await client.writeFile(descriptor: descriptor, offset: half, timeout: patience)
    }

    // MARK: Datagrams

    private static let datagramCount = 40

    /// Sends batches there and back, between sockets that are made on a loop, so that the plan holds for that, too.
    static func exchangeDatagrams(_ group: EventLoopGroup) async throws {
        let work = Task(executorPreference: group.loops[0]) {
            var options = DatagramOptions()
            options.socket.receiveBufferSize = 200_000
            let server = try await UDPSocket.bind(families: .ipv4, options: options, on: group)
            do {
                try await server.join("239.1.2.3", on: "lo")
                let there = try SocketAddress("127.0.0.1", port: server.localAddress.port)
                let client = try await UDPSocket.connect(to: .address(there), options: options, on: group)
                do {
                    try await exchange(client, server)
                    try await server.leave("239.1.2.3", on: "lo")
                } catch {
                    await client.close()
                    throw error
                }
                await client.close()
            } catch {
                await server.close()
                throw error
            }
            await server.close()
        }
        try await work.value
    }

    private static func exchange(_ client: UDPSocket, _ server: UDPSocket) async throws {
        let sent = (0..<datagramCount).map { number in
            Datagram([UInt8](repeating: UInt8(number), count: 900 + number))
        }
        try await send(sent, by: client)
        let arrived = try await receive(by: server)
        try await send(arrived.map { Datagram($0.bytes, to: $0.peer) }, by: server)
        let back = try await receive(by: client)
        guard back.map(\.bytes) == sent.map(\.bytes) else {
            throw SocketError(.invalidUTF8, message: "The echo isn't what was sent.")
        }
    }

    private static func send(_ datagrams: [Datagram], by socket: UDPSocket) async throws {
        var rest = datagrams[...]
        while !rest.isEmpty { rest = rest.dropFirst(try await socket.send(batch: Array(rest), timeout: patience)) }
    }

    private static func receive(by socket: UDPSocket) async throws -> [Datagram] {
        var datagrams: [Datagram] = []
        while datagrams.count < datagramCount {
            datagrams += try await socket.receive(upTo: 64, timeout: patience)
        }
        return datagrams
    }
}
#endif
