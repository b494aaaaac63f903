// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTesting
import Synchronization
import Testing

/// The ways in which a client reaches a server.
enum AccessWay: String, CaseIterable, CustomTestStringConvertible {
    case tcp
    case unix
    case memory

    var testDescription: String { rawValue }
}

/// A server with one loop, reached in one of these ways.
struct HalfClosedAccess: Sendable {
    /// Connects a client.
    let connect: @Sendable () async throws -> RawPeer
    /// Returns once the server has seen all that its clients have done.
    let settle: @Sendable () async throws -> Void

    static func get(_ path: String, version: String = "1.1") -> String {
        "GET \(path) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
    }

    /// Runs a server beside the body.
    static func with(
        _ way: AccessWay,
        _ configure: (inout WebServer) -> Void,
        _ body: @escaping @Sendable (HalfClosedAccess) async throws -> Void
    ) async throws {
        if way == .memory {
            return try await withMemoryServer(configure) { server in
                try await body(
                    HalfClosedAccess(connect: { await server.connect() }, settle: { await server.loop.settle() })
                )
            }
        }
        let group = try EventLoopGroup(loops: 1)
        try await withServer { server in
            server.eventLoops = group
            if way == .unix { server.listener.address = .unix("@duplex-half-closed-\(UInt64.random(in: 0 ... .max))") }
            server.get("/settled") { _ in "settled" }
            configure(&server)
        } _: { address in
            let connect: @Sendable () async throws -> RawPeer = { try await RawPeer.connect(to: address) }
            // What others have done lies with the system by now, and the loop takes it before or with this request.
            let settle: @Sendable () async throws -> Void = {
                let peer = try await connect()
                #expect(try await peer.response(to: get("/settled")).text == "settled")
                await peer.reset()
            }
            try await body(HalfClosedAccess(connect: connect, settle: settle))
        }
        await group.stop()
    }
}

/// Holds handlers up until it is opened or they are cancelled, and notes how they go on.
final class HandlerGate: Sendable {
    private struct State {
        var isOpen = false
        var keepers: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Mutex(State())
    private let begun: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation
    private let notes: AsyncStream<String>
    private let noting: AsyncStream<String>.Continuation

    init() {
        (begun, begin) = AsyncStream<Void>.makeStream()
        (notes, noting) = AsyncStream<String>.makeStream()
    }

    /// Waits, notes "waited" or "cancelled", and returns that.
    func wait() async -> String {
        let (gate, keeper) = AsyncStream<Never>.makeStream()
        state.withLock { state in
            if state.isOpen { keeper.finish() } else { state.keepers.append(keeper) }
        }
        begin.yield()
        for await _ in gate {}
        let outcome = Task.isCancelled ? "cancelled" : "waited"
        note(outcome)
        return outcome
    }

    func note(_ text: String) { noting.yield(text) }

    /// Lets all handlers go on from here on.
    func open() {
        let keepers = state.withLock { state in
            state.isOpen = true
            defer { state.keepers = [] }
            return state.keepers
        }
        for keeper in keepers { keeper.finish() }
    }

    /// Returns once another handler waits.
    func hasBegun() async { _ = await begun.first { _ in true } }

    /// The next note.
    func next() async -> String? { await notes.first { _ in true } }
}
