// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

/// Peers that reset the connection behind every single byte of a conversation that has everything in it.
///
/// Each in a process of its own, whose descriptors nobody else opens.
@Suite("Resets at every byte", .timeLimit(minutes: 2)) struct ResetTests {
    @Test("A client that resets behind any byte is told from one that closes, and leaves nothing behind")
    func server() async {
        await #expect(processExitsWith: .success) { try await ServerUnderResets.run() }
    }

    @Test("A server that resets behind any byte is told from one that closes, and leaves nothing behind")
    func client() async {
        await #expect(processExitsWith: .success) { try await ClientUnderResets.run() }
    }
}

/// What the resetting side says, as far as it comes.
private struct Script {
    /// A head, and the frames.
    let bytes: [UInt8]
    let headLength: Int
    /// Behind how many bytes a message is complete.
    private let messageEnds: [Int]

    init(head: String, by peer: RawPeer) {
        // "Hello" compressed, as RFC 7692 section 7.2.3.1 has it.
        let compressed = RawFrame(0x1, [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], reservedBits: 0x40)
        let frames: [(RawFrame, endsMessage: Bool)] = [
            (.text("Grüße"), true), (.text("in ", isFinal: false), false), (.ping([1, 2, 3]), false),
            (.continuation(Array("two".utf8)), true), (compressed, true),
            (.binary([UInt8](repeating: 7, count: 126)), true), (.pong(), false), (.close(1_000, "bye"), false),
        ]
        var bytes = Array(head.utf8)
        headLength = bytes.count
        var ends: [Int] = []
        for (frame, endsMessage) in frames {
            bytes += peer.encoded(frame)
            if endsMessage { ends.append(bytes.count) }
        }
        self.bytes = bytes
        messageEnds = ends
    }

    /// What the other side gets of so many bytes; `nil` within the head.
    func outcome(of count: Int) -> Outcome? {
        if count < headLength { return nil }
        return Outcome(messages: messageEnds.count { $0 <= count }, isClean: count == bytes.count)
    }
}

/// What one side has got of a conversation.
private struct Outcome: Equatable, Sendable {
    var messages = 0
    /// Whether it ended with the peer's close frame; with the error of a lost connection if not.
    var isClean: Bool
    /// Another error than that.
    var error: String?

    /// Receives to the end, and answers each message without waiting for anything.
    static func receiving(from socket: isolated WebSocket, telling progress: Progress) async -> Outcome {
        var outcome = Outcome(isClean: false)
        progress.happened()
        do throws(WebSocketError) {
            for try await _ in socket.messages {
                outcome.messages += 1
                progress.happened()
                let answer: [UInt8] = [1, 2, 3]
                socket.enqueue(answer.span.raw, .binary)
            }
            outcome.isClean = socket.closeReport.isClean
        } catch {
            if error.code != .connectionLost { outcome.error = "\(error)" }
        }
        return outcome
    }
}

/// That a connection is open, and each of its messages, so that a reset doesn't overtake them.
private struct Progress: Sendable {
    private let events: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    func happened() {
        continuation.yield()
    }

    /// Waits until all has happened that the bytes bring about.
    func wait(for outcome: Outcome?) async {
        guard let outcome else { return }
        var iterator = events.makeAsyncIterator()
        for _ in 0...outcome.messages { await iterator.next() }
    }
}

extension EventLoop {
    /// Waits until the loop has received what was there before the call: twice, as the first turn may be under way.
    fileprivate func receivesWhatIsThere() async {
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in execute { _ in continuation.resume() } }
        }
    }
}

/// Counts the sockets of this process.
private enum Sockets {
    static func count() -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasPrefix("socket:")
                == true
        }
    }

    /// Expects that no more than so many are open in the end: what was reset is closed in a later turn of its loop.
    static func expect(_ count: Int) async {
        let deadline = ContinuousClock.now.advanced(by: .seconds(10))
        while Self.count() > count && ContinuousClock.now < deadline { await Task.yield() }
        let now = Self.count()
        #expect(now <= count)
    }
}

private enum ServerUnderResets {
    static func run() async throws {
        let group = try EventLoopGroup(loops: 1)
        let (outcomes, ended) = AsyncStream<Outcome>.makeStream()
        let progress = Progress()
        try await withServer { server in
            server.eventLoops = group
            server.webSockets.compression = .enabled
            server.webSocket("/") { socket in ended.yield(await Outcome.receiving(from: socket, telling: progress)) }
            server.webSocket("/echo") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            let bystander = try await RawPeer.openWebSocket(to: address, "/echo")
            let before = Sockets.count()
            let request = RawPeer.upgradeRequest("/", "Sec-WebSocket-Extensions: permessage-deflate")
            let script = Script(head: request, by: bystander)
            var iterator = outcomes.makeAsyncIterator()
            for count in 0...script.bytes.count {
                let peer = try await RawPeer.connect(to: address)
                try await peer.send(Array(script.bytes.prefix(count)))
                await progress.wait(for: script.outcome(of: count))
                for loop in group.loops { await loop.receivesWhatIsThere() }
                // Once the answer to its close is there, a reset takes nothing away any more.
                if count == script.bytes.count {
                    _ = try await peer.readHead()
                    _ = try await peer.readFrame { $0.opcode == 0x8 }
                }
                await peer.reset()
                guard let expected = script.outcome(of: count) else { continue }
                let outcome = await iterator.next()
                #expect(outcome == expected, "reset behind \(count) bytes")
                if count % 50 == 0 { try await bystander.expectEcho() }
            }
            try await bystander.expectEcho()
            await Sockets.expect(before)
            await bystander.close()
        }
        await group.stop()
    }
}

private enum ClientUnderResets {
    static func run() async throws {
        let group = try EventLoopGroup(loops: 1)
        try await withListener { url, accept in
            let before = Sockets.count()
            var count = 0
            var length = 0
            repeat {
                let progress = Progress()
                let attempt = Task { () async throws -> Outcome in
                    let socket = try await WebSocket.connect(to: url, on: group)
                    return await Outcome.receiving(from: socket, telling: progress)
                }
                let peer = try await accept()
                let extensions = "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=12"
                let head = RawPeer.upgradeResponse(to: try await peer.readHead(), [extensions])
                let script = Script(head: head, by: peer)
                length = script.bytes.count
                try await peer.send(Array(script.bytes.prefix(count)))
                await progress.wait(for: script.outcome(of: count))
                for loop in group.loops { await loop.receivesWhatIsThere() }
                // Once the answer to its close is there, a reset takes nothing away any more.
                if count == length { _ = try await peer.readFrame { $0.opcode == 0x8 } }
                await peer.reset()
                switch (await attempt.result, script.outcome(of: count)) {
                case (.success(let outcome), let expected): #expect(outcome == expected, "reset behind \(count) bytes")
                case (.failure(let error), nil):
                    #expect((error as? WebSocketError)?.code == .cannotConnect)
                    #expect((error as? WebSocketError)?.stage == .upgrade, "reset behind \(count) bytes: \(error)")
                case (.failure(let error), _): Issue.record(error, "reset behind \(count) bytes")
                }
                count += 1
            } while count <= length
            await Sockets.expect(before)
        }
        await group.stop()
    }
}
#endif
