// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Logging
import Testing

@testable import DuplexSockets

@Suite("Clients that don't speak TLS, where it is spoken", .timeLimit(minutes: 1))
struct ChannelPlainPeersTests {
    /// Answers a line that begins with `HEY`, whose third byte decides.
    private static let probe: PlainProbe = { bytes in
        let start = [UInt8](copying: bytes).prefix(3)
        if !"HEY".utf8.starts(with: start) { return .other }
        return start.count < 3 ? .undecided : .answered(Array("in the clear\n".utf8))
    }

    private func withListener(_ probe: @escaping PlainProbe, _ body: (SocketAddress) async throws -> Void) async throws
    {
        let group = try EventLoopGroup(loops: 1)
        let logger = Logger(label: "test")
        let listener = try SocketListener.bind(
            .tcp(host: "127.0.0.1", port: 0),
            on: group,
            backlog: 8,
            tls: try TestCertificates.serverOptions(),
            probe: probe,
            options: SocketOptions(),
            proxyProtocol: .off,
            logger: logger,
            ends: EndSummary(logger: logger)
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                try await listener.serve { socket in
                    while let bytes = try await socket.read() { try await socket.write(bytes) }
                }
            }
            try await body(listener.localAddress)
            tasks.cancelAll()
            while let result = await tasks.nextResult() { _ = result }
        }
    }

    @Test("They are answered in the clear, in every split, and the connection ends in order", arguments: 0...4)
    func answered(cut: Int) async throws {
        try await withListener(Self.probe) { address in
            let socket = try await Socket.connect(to: .address(address))
            let input = Array("HEY you".utf8)
            try await socket.write(Array(input.prefix(cut)))
            try await socket.write(Array(input.dropFirst(cut)))
            var answer: [UInt8] = []
            while let bytes = try await socket.read() { answer += bytes }
            #expect(String(decoding: answer, as: UTF8.self) == "in the clear\n")
            await socket.close()
        }
    }

    @Test(
        "Another protocol, and one that ends undecided, get what the handshake makes of them",
        arguments: ["HELLO, this is no TLS", "HE", "X", "\u{16}nonsense"]
    )
    func others(text: String) async throws {
        try await withListener(Self.probe) { address in
            let socket = try await Socket.connect(to: .address(address))
            try await socket.write(Array(text.utf8))
            if text.utf8.count < 8 { await socket.finishWriting() }
            var answer: [UInt8] = []
            while let bytes = try? await socket.read() { answer += bytes }
            // An alert (RFC 8446 section 6), or nothing.
            #expect(answer.isEmpty || answer.first == 21)
            await socket.close()
        }
    }

    @Test("A probe that never decides holds a few bytes, and then the handshake judges")
    func bounded() async throws {
        try await withListener { _ in
            .undecided
        } _: { address in
            let socket = try await Socket.connect(to: .address(address))
            try await socket.write([UInt8](repeating: 0x41, count: 100))
            var answer: [UInt8] = []
            while let bytes = try? await socket.read() { answer += bytes }
            #expect(answer.isEmpty || answer.first == 21)
            await socket.close()
        }
    }

    @Test("Clients that speak TLS notice nothing")
    func secured() async throws {
        try await withListener(Self.probe) { address in
            var options = ConnectOptions()
            options.tls = try TestCertificates.clientOptions()
            let socket = try await Socket.connect(to: .tls("localhost", port: address.port), options: options)
            try await socket.write(Array("HEY".utf8))
            #expect(try await socket.read(exactly: 3) == Array("HEY".utf8))
            await socket.close()
        }
    }
}
