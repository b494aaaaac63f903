// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Logging
import Testing

/// What a handler's own task is told: its waits don't watch for cancellation, so whoever cancels it tells its socket.
@Suite struct WebSocketServingCancellationTests {
    private enum Outcome: Equatable {
        case cancelled
        case alreadyReceiving
        case message(Message)
        case other
    }

    /// Opens one connection to a server with that handler, and gives the first outcome that the handler reports.
    private func outcome(
        sending frames: [RawFrame] = [],
        stopping: Bool = false,
        answeringClose: Bool = false,
        of handler: @escaping @Sendable (isolated WebSocket, (Outcome) -> Void) async throws -> Void
    ) async throws -> Outcome? {
        let (outcomes, report) = AsyncStream<Outcome>.makeStream()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.webSocket("/") { socket in try await handler(socket) { report.yield($0) } }
        let (addresses, tell) = AsyncStream<SocketAddress>.makeStream()
        let task = Task { [server] in try await server.run { tell.yield($0) } }
        for await address in addresses {
            let peer = try await RawPeer.openWebSocket(to: address)
            try await peer.send(frames)
            if stopping {
                // The pong says that the loop has gone on behind the handler's beginning.
                try await peer.send(.ping([1]))
                #expect(try await peer.readFrame().opcode == 0xA)
                task.cancel()
            }
            if answeringClose {
                let close = try await peer.readFrame { $0.opcode == 0x8 }
                try await peer.send(.close(close.closeCode ?? 1_000))
                await peer.finishWriting()
            }
            var iterator = outcomes.makeAsyncIterator()
            let outcome = await iterator.next()
            await peer.reset()
            task.cancel()
            try await task.value
            return outcome
        }
        return nil
    }

    private static func outcome(_ body: () async throws -> Message) async -> Outcome {
        do {
            return .message(try await body())
        } catch is CancellationError {
            return .cancelled
        } catch let error as WebSocketError where error.code == .alreadyReceiving {
            return .alreadyReceiving
        } catch {
            return .other
        }
    }

    @Test("A handler that waits for a message is cancelled with its server")
    func stop() async throws {
        let outcome = try await outcome(stopping: true) { socket, report in
            report(await Self.outcome { try await socket.receive() })
        }
        #expect(outcome == .cancelled)
    }

    @Test("So is one that takes messages one after the other, whose error needs no cast")
    func stopWithinSequence() async throws {
        let outcome = try await outcome(stopping: true) { socket, report in
            do throws(WebSocketError) {
                for try await message in socket.messages { report(.message(message)) }
            } catch {
                report(error.code == .cancelled ? .cancelled : .other)
                throw error
            }
        }
        #expect(outcome == .cancelled)
    }

    @Test("A child task of a handler can be cancelled by itself, and the handler receives what comes next")
    func child() async throws {
        let outcome = try await outcome { socket, report in
            let child = Task { await Self.outcome { try await socket.receive() } }
            child.cancel()
            report(await child.value)
        }
        #expect(outcome == .cancelled)
    }

    @Test("While a handler waits, another task is refused")
    func second() async throws {
        let outcome = try await outcome(answeringClose: true) { socket, report in
            let other = Task {
                // Both may come first; whoever comes second is refused, and then the first is ended by the close.
                let outcome = await Self.outcome { try await socket.receive() }
                await socket.close()
                return outcome
            }
            let own = await Self.outcome { try await socket.receive() }
            await socket.close()
            let others = await other.value
            report(own == .alreadyReceiving ? own : others)
        }
        #expect(outcome == .alreadyReceiving)
    }

    @Test("A handler gets messages that came before it asked and after")
    func messages() async throws {
        let outcome = try await outcome(sending: [.text("a"), .text("b")]) { socket, report in
            let first = try await socket.receive()
            let second = try await socket.receive()
            report(.message(.text("\(first)\(second)")))
        }
        #expect(outcome == .message("ab"))
    }
}
