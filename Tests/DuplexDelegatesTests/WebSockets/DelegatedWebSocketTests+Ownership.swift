// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexDelegates

// Who keeps whom.

extension DelegatedWebSocketTests {
    @Test("The delegate is kept weakly, and the connection goes on without one")
    func delegateOwnership() async throws {
        let (received, arrivals) = AsyncStream<Message>.makeStream()
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { arrivals.yield(message) }
                arrivals.finish()
            }
        } _: { address in
            let (socket, recorder) = await Self.opened("ws://\(address)/")
            while recorder.isThere { await Task.yield() }
            try socket.send("without a delegate")
            socket.close()
            var seen: [Message] = []
            for await message in received { seen.append(message) }
            #expect(seen == ["without a delegate"])
            while socket.state != .closed { await Task.yield() }
        }
    }

    @Test("A connection that nobody keeps goes on until it ends, and is gone then")
    func ownership() async throws {
        let (signals, signal) = AsyncStream<Void>.makeStream()
        try await withServer { server in
            server.webSocket("/") { socket in
                for await _ in signals { break }
                try await socket.send("late")
                await socket.close(code: .goingAway)
            }
        } _: { address in
            let recorder = Recorder()
            let socket = await Self.left("ws://\(address)/", recorder)
            signal.yield()
            var seen: [Event] = []
            for await event in recorder.events { seen.append(event) }
            #expect(seen == [.message("late"), .closed(.goingAway)])
            while socket.isThere { await Task.yield() }
        }
    }

    /// Keeps a connection weakly.
    private struct WeakSocket: Sendable {
        weak let socket: DelegatedWebSocket?
        var isThere: Bool { socket != nil }
    }

    /// A connection that is open and that nobody keeps.
    private static func left(_ url: String, _ recorder: Recorder) async -> WeakSocket {
        let socket = DelegatedWebSocket(url: url, options: .patient, delegate: recorder, queue: recorder.queue)
        socket.open()
        for await event in recorder.events {
            #expect(event == .opened)
            break
        }
        return WeakSocket(socket: socket)
    }

    /// Keeps a recorder weakly.
    private struct WeakRecorder: Sendable {
        weak let recorder: Recorder?
        var isThere: Bool { recorder != nil }
    }

    /// A connection whose delegate nobody keeps.
    private static func opened(_ url: String) async -> (DelegatedWebSocket, WeakRecorder) {
        let recorder = Recorder()
        let socket = DelegatedWebSocket(url: url, options: .patient, delegate: recorder, queue: recorder.queue)
        socket.open()
        for await event in recorder.events {
            #expect(event == .opened)
            break
        }
        return (socket, WeakRecorder(recorder: recorder))
    }
}
