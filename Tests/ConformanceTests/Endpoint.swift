// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

/// Which of our sides is put to the test; it sends back every message, and the test plays the other side by hand.
enum Endpoint: Sendable, CaseIterable, CustomTestStringConvertible {
    case server
    case client

    var testDescription: String { self == .server ? "our server" : "our client" }

    /// Opens a connection to the endpoint and hands over the test's side of it.
    func open(
        limits: MessageLimits = .internet,
        _ body: @escaping @Sendable (RawPeer) async throws -> Void
    ) async throws {
        switch self {
        case .server: try await Self.openServer(limits, body)
        case .client: try await Self.openClient(limits, body)
        }
    }

    private static func openServer(
        _ limits: MessageLimits,
        _ body: @escaping @Sendable (RawPeer) async throws -> Void
    ) async throws {
        try await withServer { server in
            server.limits.messages = limits
            server.webSockets.pings = .disabled
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let peer = try await RawPeer.openWebSocket(to: address)
            try await body(peer)
            await peer.close()
        }
    }

    private static func openClient(
        _ limits: MessageLimits,
        _ body: @escaping @Sendable (RawPeer) async throws -> Void
    ) async throws {
        var options = WebSocketOptions()
        options.limits = limits
        options.pings = .disabled
        try await withClient(options: options) { socket, peer in
            // A task of the loop's, as a server's handler is: it answers within the turn in which a message came.
            let echo = Task(executorPreference: socket.loop) { try await sendBack(socket) }
            try await body(peer)
            await peer.close()
            // It ends with the connection; how, is what the test has seen on the wire.
            _ = await echo.result
        }
    }

    /// On the loop of the connection, as the server's handler is.
    private static func sendBack(_ socket: isolated WebSocket) async throws {
        for try await message in socket.messages { try await socket.send(message) }
    }
}

extension RawPeer {
    /// Expects that the endpoint fails the connection: a close frame with that code and a reason, then nothing more.
    func expectFailure(_ code: UInt16, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let frame = try await readFrame { $0.opcode == 0x8 }
        #expect(frame.closeCode == code, sourceLocation: sourceLocation)
        #expect(!frame.closeReason.isEmpty, sourceLocation: sourceLocation)
        let isAtEnd = try await isAtEnd()
        #expect(isAtEnd, sourceLocation: sourceLocation)
    }

    /// Sends frames and expects that they are answered with a failure.
    func send(
        _ frames: RawFrame...,
        failing code: UInt16,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await send(frames)
        try await expectFailure(code, sourceLocation: sourceLocation)
    }

    /// Expects that the connection is open and in order.
    func expectEcho(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await send(.text("still here"))
        let frame = try await readFrame()
        #expect(frame.text == "still here", sourceLocation: sourceLocation)
    }
}
