// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexCommand

@Suite("A conversation", .timeLimit(minutes: 1))
struct ConversationTests {
    /// Lines that end in an error.
    private struct BrokenLines: LineSource {
        func next() async throws -> String? {
            throw Failure(.failure, "broken")
        }
    }

    /// Lines that never come.
    private struct SilentLines: LineSource {
        func next() async throws -> String? {
            let (never, _) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            throw CancellationError()
        }
    }

    /// Talks to a server with that handler.
    ///
    /// - Returns: how it ended, and what was printed.
    private static func talk(
        _ lines: any LineSource,
        replies: Int? = nil,
        sendsAllFirst: Bool = true,
        wait: Duration? = .seconds(30),
        endsWithInput: Bool = false,
        to handler: @escaping @Sendable (isolated WebSocket) async throws -> Void
    ) async throws -> (end: Conversation.End, output: String) {
        try await withWebSocketServer(handler) { url in
            let socket = try await WebSocket.connect(to: url)
            var pipe = try TestPipe()
            let console = Console(output: pipe.writing, errors: pipe.writing)
            let conversation = Conversation(
                partner: WebSocketPartner(socket: socket),
                lines: lines,
                printer: MessagePrinter(console: console, mark: "", showsAllBytes: false),
                rules: .init(replies: replies, sendsAllFirst: sendsAllFirst, wait: wait, endsWithInput: endsWithInput),
                lineWasSent: {}
            )
            let end = try await conversation.run()
            await socket.close()
            pipe.finishWriting()
            return (end, pipe.read())
        }
    }

    @Test("Lines go out as messages, messages come in as lines, until the replies are complete")
    func replies() async throws {
        let result = try await Self.talk(GivenLines(["one", "", "über"]), replies: 3) { try await echo($0) }
        #expect(result.end == .done)
        #expect(result.output == "one\n\nüber\n")
    }

    @Test("With no reply to wait for, it ends when all is sent")
    func noReplies() async throws {
        let received = Mutex<[Message]>([])
        let result = try await Self.talk(GivenLines(["one", "two"]), replies: 0) { socket in
            for try await message in socket.messages { received.withLock { $0.append(message) } }
        }
        #expect(result.end == .done)
        #expect(received.withLock(\.self) == [.text("one"), .text("two")])
    }

    @Test("Messages may complete it while lines are still to come")
    func repliesFirst() async throws {
        let result = try await Self.talk(SilentLines(), replies: 2, sendsAllFirst: false) { socket in
            for text in ["a", "b"] { try await socket.send(text) }
            try await listen(socket)
        }
        #expect(result.end == .done)
        #expect(result.output == "a\nb\n")
    }

    @Test("Replies that don't come are a time-out")
    func timeout() async throws {
        let result = try await Self.talk(GivenLines(["x"]), replies: 2, wait: .zero) { try await listen($0) }
        #expect(
            result.end
                == .failed(Failure(.timedOut, "No message for 0.0 seconds, with 2 of the replies still to come."))
        )
    }

    @Test("Without a number of replies, silence after the last line is the end")
    func silence() async throws {
        let result = try await Self.talk(GivenLines(["x"]), wait: .zero) { try await listen($0) }
        #expect(result.end == .done)
    }

    @Test("Without a limit of the wait, the server's close is the end", arguments: [nil, 2])
    func waitsWithoutEnd(replies: Int?) async throws {
        let result = try await Self.talk(GivenLines(["x"]), replies: replies, wait: nil) { socket in
            for try await message in socket.messages {
                try await socket.send(message)
                return
            }
        }
        #expect(result.output == "x\n")
        #expect((result.end == .done) == (replies == nil))
    }

    @Test("Where the end of the lines is the end of it all, nothing is waited for")
    func endsWithInput() async throws {
        let result = try await Self.talk(GivenLines([]), endsWithInput: true) { try await listen($0) }
        #expect(result.end == .done)
    }

    @Test("A server that closes in order ends it, and is at fault only if it owes replies", arguments: [nil, 1, 2])
    func closedByServer(replies: Int?) async throws {
        let result = try await Self.talk(SilentLines(), replies: replies, sendsAllFirst: true) { socket in
            try await socket.send("only")
        }
        #expect(result.output == "only\n")
        let failure = Failure(.connectionFailed, "The server closed with 1 of the replies still to come.")
        #expect(result.end == (replies == 2 ? .failed(failure) : .done))
    }

    @Test("A server that closes with the code of an error ends it with that error")
    func closedWithError() async throws {
        let error = try await #require(throws: WebSocketError.self) {
            try await Self.talk(SilentLines()) { await $0.close(code: .policyViolation, reason: "no") }
        }
        #expect(error.code == .closed)
        #expect(error.closeReport?.received == CloseFrame(code: .policyViolation, reason: "no"))
    }

    @Test("Input that can't be sent ends it with what is wrong with the input")
    func brokenInput() async throws {
        await #expect(throws: Failure(.failure, "broken")) {
            try await Self.talk(BrokenLines()) { try await listen($0) }
        }
    }
}

@Suite("Progress of a conversation")
struct ConversationProgressTests {
    private static func progress(replies: Int?, sendsAllFirst: Bool) -> ConversationProgress {
        ConversationProgress(.init(replies: replies, sendsAllFirst: sendsAllFirst, wait: .zero, endsWithInput: false))
    }

    @Test("The last of the replies completes it, also before the input ends")
    func replies() {
        let progress = Self.progress(replies: 2, sendsAllFirst: false)
        #expect(progress.missing == 2)
        #expect(!progress.messageArrived())
        #expect(progress.missing == 1)
        #expect(progress.messageArrived())
        #expect(progress.missing == nil)
    }

    @Test("Where all lines are sent first, the end of the input completes it")
    func sendsAllFirst() {
        let progress = Self.progress(replies: 1, sendsAllFirst: true)
        #expect(!progress.messageArrived())
        #expect(progress.inputEnded())
    }

    @Test("With no reply to wait for, the end of the input completes it")
    func none() {
        #expect(Self.progress(replies: 0, sendsAllFirst: true).inputEnded())
    }

    @Test("Without a number nothing completes it, and nothing is missing")
    func unlimited() {
        let progress = Self.progress(replies: nil, sendsAllFirst: false)
        #expect(!progress.messageArrived())
        #expect(!progress.inputEnded())
        #expect(progress.missing == nil)
    }

    @Test("Messages and the end of the input are activity")
    func activity() {
        let progress = Self.progress(replies: nil, sendsAllFirst: false)
        let start = progress.lastActivity
        _ = progress.messageArrived()
        let first = progress.lastActivity
        #expect(first > start)
        _ = progress.inputEnded()
        #expect(progress.lastActivity > first)
    }
}

@Suite("Partners of a conversation", .timeLimit(minutes: 1))
struct PartnerTests {
    @Test("Lines of a stream go out with their ends, and come in without")
    func stream() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let server = Task {
            for try await socket in listener {
                let bytes = try await socket.read(until: "\r\n")
                try await socket.write("answer\nlast")
                await socket.close()
                return bytes
            }
            return nil
        }
        let socket = try await Socket.connect(to: .address(listener.localAddress))
        let partner = StreamPartner(socket: socket, lineEnd: "\r\n", limit: 100)
        try await partner.send("question")
        await partner.finishSending()
        #expect(try await server.value == Array("question\r\n".utf8))
        #expect(try await partner.next() == .text("answer"))
        #expect(try await partner.next() == .text("last"))
        #expect(try await partner.next() == nil)
        await listener.close()
    }
}
