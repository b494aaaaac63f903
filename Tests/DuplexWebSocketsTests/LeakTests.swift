// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Glibc
import Synchronization
import Testing

/// Nothing stays behind, however connections begin and end.
///
/// Each test has a process of its own, in which nobody else opens descriptors or starts threads.
@Suite(.serialized) struct LeakTests {
    @Test("Connections that are closed in order leave nothing behind")
    func closed() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Census.expectNothingLeft { url, group in
                let socket = try await WebSocket.connect(to: url, on: group)
                try await socket.send("hello")
                _ = try await socket.receive()
                await socket.close()
                return socket
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Connections that are dropped leave nothing behind")
    func dropped() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Census.expectNothingLeft { url, group in
                try await WebSocket.connect(to: url, on: group)
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Clients that reconnect leave nothing: closed, paused, dropped, cancelled or waiting", arguments: 0..<5)
    func reconnecting(way: Int) async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [way] in
            try await Census.expectNothingLeft { url, group in
                let urls = way == 4 ? ["ws://127.0.0.1:1/"] : [url]
                let client = ReconnectingWebSocket(urls, policy: .constant(.seconds(3_600)), on: group)
                if way == 4 {
                    let states = client.stateChanges
                    await client.start()
                    for await change in states { if case .waiting = change.state { return nil } }
                }
                if way == 3 {
                    // At whichever moment of the attempt.
                    let waiting = Task { try await client.messages.first { _ in true } }
                    waiting.cancel()
                    _ = await waiting.result
                    return nil
                }
                let session = try await client.sessions.first { _ in true }
                try await client.send("hello")
                _ = try await session?.receive()
                if way == 0 { await client.close() }
                if way == 1 { await client.pause() }
                return session
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Connections whose tasks are cancelled while they wait leave nothing behind")
    func cancelled() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Census.expectNothingLeft { url, group in
                let socket = try await WebSocket.connect(to: url, on: group)
                let receiver = await waiting(on: socket) { socket in try await socket.receive() }
                let ping = await waiting(on: socket) { socket in try await socket.ping() }
                receiver.cancel()
                ping.cancel()
                _ = await (receiver.result, ping.result)
                return socket
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Attempts that are cancelled at any moment leave nothing behind")
    func cancelledAttempts() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let yields = Mutex(0)
            try await Census.expectNothingLeft { url, group in
                let attempt = Task { try await WebSocket.connect(to: url, on: group) }
                let count = yields.withLock { yields in
                    yields += 1
                    return yields
                }
                for _ in 0..<count { await Task.yield() }
                attempt.cancel()
                return try? await attempt.value
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Handshakes that are refused leave nothing behind")
    func refused() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Census.expectNothingLeft { url, group in
                try? await WebSocket.connect(to: url + "nothing/here", on: group)
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Connections that the server's handler throws out of leave nothing behind")
    func thrown() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Census.expectNothingLeft { url, group in
                let socket = try await WebSocket.connect(to: url + "throwing", on: group)
                _ = try? await socket.receive()
                return socket
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Connections with a synchronous handler leave nothing behind")
    func synchronous() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await Census.expectNothingLeft { url, group in
                let socket = try await WebSocket.connect(to: url + "handler", on: group)
                try await socket.send("hello")
                _ = try await socket.receive()
                return socket
            }
        }
        Census.expectNoReport(child)
    }

    @Test("Peers that reset in the middle of a frame, of a handshake or of a request leave nothing behind")
    func brutal() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let turn = Mutex(0)
            try await Census.expectNothingLeft { url, group in
                let port = Int(url.split(separator: ":")[2].prefix { $0 != "/" }) ?? 0
                let address = try SocketAddress("127.0.0.1", port: port)
                let peer = RawPeer(try await Socket.connect(to: .address(address), on: group), masks: true)
                let request = RawPeer.upgradeRequest()
                let half = peer.encoded(.text("half of this only")).prefix(9)
                let pieces = [Array(request.utf8), Array(request.utf8.prefix(60)), Array(request.utf8) + half, []]
                let piece = turn.withLock { turn in
                    turn += 1
                    return pieces[turn % pieces.count]
                }
                try await peer.send(piece)
                if turn.withLock({ $0 % 3 }) == 0 { _ = try? await peer.socket.read(timeout: .milliseconds(1)) }
                await peer.reset()
                return nil
            }
        }
        Census.expectNoReport(child)
    }
}

/// Counts what a process holds.
enum Census {
    private static let rounds = 100

    /// The descriptors and the threads of this process.
    private struct Count {
        var descriptors: [String]
        var loops: Int

        var sockets: Int { descriptors.count { $0 == "socket" } }

        /// Whether there is nothing that wasn't there before; what was only late to go then may be gone now.
        func isWithin(_ before: Count) -> Bool {
            var rest = before.descriptors
            for descriptor in descriptors {
                guard let index = rest.firstIndex(of: descriptor) else { return false }
                rest.remove(at: index)
            }
            return loops == 0
        }
    }

    /// What `body` opened that is still there.
    private final class Opened: Sendable {
        private struct Reference {
            weak var socket: WebSocket?
        }

        private let references = Mutex<[Reference]>([])

        func add(_ socket: WebSocket?) {
            references.withLock { $0.append(Reference(socket: socket)) }
        }

        var alive: Int { references.withLock { $0.count { $0.socket != nil } } }
    }

    /// Runs `body` many times, some at once, against a server that echoes, stops everything, and reports what is still
    /// there, or what went wrong.
    static func expectNothingLeft(
        _ body: @escaping @Sendable (_ url: String, _ group: EventLoopGroup) async throws -> WebSocket?
    ) async throws {
        do {
            try await count(body)
        } catch {
            report("\(error)\n")
        }
    }

    private static func count(
        _ body: @escaping @Sendable (_ url: String, _ group: EventLoopGroup) async throws -> WebSocket?
    ) async throws {
        let inherited = count().sockets
        // What the runtime opens when it is first used stays open; only what comes on top is a leak.
        await useTimers()
        try await run(rounds: 2, Opened(), body)
        let before = await latestCount { $0.loops == 0 && $0.sockets == inherited }
        let opened = Opened()
        try await run(rounds: rounds, opened, body)
        // The last one to let go of a socket may do so a moment after its loop has ended.
        _ = await comesTrue(within: .limit(seconds: 10)) { opened.alive == 0 }
        let after = await latestCount { $0.isWithin(before) }
        guard before.loops == 0, after.isWithin(before), opened.alive == 0 else {
            report("before: \(before)\nafter: \(after)\nsockets alive: \(opened.alive)\n")
        }
    }

    /// What there is once it is as it should be, or after ten seconds.
    ///
    /// A loop that has stopped is off its thread a moment before the system has ended the thread, and what was dropped
    /// late is closed on a thread of its own.
    private static func latestCount(_ isRight: (Count) -> Bool) async -> Count {
        var latest = count()
        _ = await comesTrue(within: .limit(seconds: 10)) {
            latest = count()
            return isRight(latest)
        }
        return latest
    }

    private static func run(
        rounds: Int,
        _ opened: Opened,
        _ body: @escaping @Sendable (String, EventLoopGroup) async throws -> WebSocket?
    ) async throws {
        let group = try EventLoopGroup(loops: 2)
        try await withServer { server in
            configure(&server, group)
        } _: { address in
            let listening = count().sockets
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<4 {
                    tasks.addTask {
                        for _ in 0..<rounds { opened.add(try await body("ws://\(address)/", group)) }
                    }
                }
                try await tasks.waitForAll()
            }
            // While the server runs, since its end closes what is still open. Resets of dropped sockets may be on their way.
            let areClosed = await comesTrue(within: .limit(seconds: 10)) { count().sockets == listening }
            if !areClosed { report("still open: \(count())\n") }
        }
        await group.stop()
    }

    private static func configure(_ server: inout WebServer, _ group: EventLoopGroup) {
        server.eventLoops = group
        server.webSocket("/") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
        server.webSocket("/throwing") { _ in throw CancellationError() }
        server.webSocket("/handler", handler: Echo())
    }

    private struct Echo: WebSocketHandler {
        func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
            socket.enqueue(bytes, kind)
        }
    }

    private static func count() -> Count {
        Count(descriptors: ThreadCensus.entries(of: "/proc/self/fd").map(target).sorted(), loops: ThreadCensus.loops())
    }

    /// What kind of thing a descriptor is, without its number.
    ///
    /// Whether its file has been deleted since is left out: one that is inherited from the tests' own process may be.
    private static func target(of descriptor: String) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let length = unsafe readlink("/proc/self/fd/" + descriptor, &buffer, buffer.count)
        let text = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let kind = text.hasPrefix("anon_inode:") ? text : String(text.prefix { $0 != ":" })
        return kind.replacing(" (deleted)", with: "")
    }

    /// Says what was found and ends the process: in order, as the output of one that fails isn't handed on.
    private static func report(_ text: String) -> Never {
        _ = unsafe write(2, text, text.utf8.count)
        exit(0)
    }

    /// Expects that the process of an exit test has had nothing to report.
    static func expectNoReport(_ child: ExitTest.Result?, at location: SourceLocation = #_sourceLocation) {
        let text = child.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(text == "", sourceLocation: location)
    }
}
#endif
