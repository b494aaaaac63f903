// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexCommand

@Suite("duplex connect", .timeLimit(minutes: 1))
struct ConnectTests {
    /// Silence ends nothing while the server has still to close, on a machine that is busy.
    private static let patient = ["--wait", "60s"]

    /// Takes what comes and answers nothing.
    private static let listenOnly: @Sendable (isolated WebSocket) async throws -> Void = { try await listen($0) }

    @Test("In a pipe, lines go out, messages come in, and nothing else is printed")
    func pipe() async throws {
        try await withServeCommand { authority in
            let lines = (1...200).map { "\($0)\n" }.joined() + "last"
            let result = try await RunningCommand.run(["connect", "ws://\(authority)/", "-n", "201"], input: lines)
            #expect(result == CommandResult(status: 0, output: lines + "\n", errors: ""))
        }
    }

    @Test("With --wait unlimited it waits for replies until the server closes")
    func waitsWithoutEnd() async throws {
        let server: @Sendable (isolated WebSocket) async throws -> Void = { socket in
            for try await message in socket.messages {
                try await socket.send(message)
                return
            }
        }
        let result = try await withWebSocketServer(server) {
            try await RunningCommand.run(["connect", $0, "--wait", "unlimited"], input: "last")
        }
        #expect(result.status == 0 && result.output == "last\n", "\(result)")
        #expect(try await RunningCommand.run(["connect", "ws://a/", "--wait", "never"]).status == 64)
    }

    @Test("Texts on the command line are sent, and as many replies waited for as asked")
    func texts() async throws {
        try await withServeCommand { authority in
            let url = "ws://\(authority)/echo"
            let one = try await RunningCommand.run(["connect", url, "-x", "hello"])
            #expect(one == CommandResult(status: 0, output: "hello\n", errors: ""))
            let two = try await RunningCommand.run(["connect", url, "-x", "-a", "-x", "b", "-n", "2"])
            #expect(two == CommandResult(status: 0, output: "-a\nb\n", errors: ""))
            let none = try await RunningCommand.run(["connect", url, "-x", "a", "-n", "0"])
            #expect(none.status == 0)
        }
    }

    @Test("Verbose, it draws on the standard error how the connection came about, of WebSockets and of streams")
    func verbose() async throws {
        try await withServeCommand { authority in
            let result = try await RunningCommand.run(["connect", "ws://\(authority)/echo", "-x", "hello", "-v"])
            #expect(result.status == 0 && result.output == "hello\n")
            #expect(result.errors.contains("upgrade ") && result.errors.contains("█"))
            // Each stage as it happens, the picture behind them.
            let lines = result.errors.split(separator: "\n")
            let began = try #require(lines.firstIndex { $0.contains(" ms upgrade ") && $0.hasSuffix(" began") })
            let ended = try #require(lines.firstIndex { $0.contains(" ms upgrade ") && $0.hasSuffix(" ended") })
            let picture = try #require(lines.firstIndex { $0.contains("█") })
            #expect(lines[0].contains(" ms ") && began < ended && ended < picture)
        }
        try await withServe(["tcp://localhost:0"]) { url, _ in
            let result = try await RunningCommand.run(["connect", url, "-x", "hello", "--verbose"])
            #expect(result.status == 0 && result.output == "hello\n")
            #expect(result.errors.contains("TCP 127.0.0.1:") && result.errors.contains("█"))
            #expect(result.errors.contains(" ms connecting 127.0.0.1:"))
        }
    }

    @Test(
        "Verbose, it draws how far it came when it fails, and only then",
        arguments: ["ws://127.0.0.1:1/", "tcp://127.0.0.1:1", "unix:/none/of/it"]
    )
    func verboseFailure(url: String) async throws {
        let result = try await RunningCommand.run(["connect", url, "-x", "hello", "-v"])
        let place = url.hasPrefix("unix") ? "unix:/none" : "TCP 127.0.0.1:1 failed"
        let all = result.errors.split(separator: "\n")
        let stages = all.filter { $0.contains(" ms connecting ") }
        #expect(stages.count == 2 && stages[0].hasSuffix(" began") && stages[1].contains(" failed: "))
        let lines = all.filter { !$0.contains(" ms connecting ") }
        #expect(result.status == 2 && lines.count >= 2)
        #expect(lines.first?.hasPrefix(place) == true && lines.first?.contains("░") == true)
        #expect(lines.dropFirst().first?.hasPrefix("duplex: ") == true)
        #expect(try await RunningCommand.run(["connect", url, "-x", "hello"]).errors.contains("░") == false)
    }

    @Test("A server that isn't there ends it with 2")
    func cannotConnect() async throws {
        let result = try await RunningCommand.run(["connect", "ws://127.0.0.1:1/", "-x", "a"])
        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("duplex: ws://127.0.0.1:1/ can't be reached."))
    }

    @Test("A server that answers otherwise ends it with 3, and its words can't reach the terminal as they are")
    func refused() async throws {
        var server = WebServer(port: 0)
        server.get("/") { _ in "no\u{1b}[2J" }
        let result = try await withServer(server) { url in try await RunningCommand.run(["connect", url, "-x", "a"]) }
        #expect(result.status == 3)
        #expect(result.errors.contains("instead of 101"))
        #expect(!result.errors.contains("\u{1b}"))
    }

    @Test("A close with the code of an error ends it with 4, and its reason is made visible")
    func errorClose() async throws {
        let result = try await withWebSocketServer {
            await $0.close(code: .policyViolation, reason: "go\u{1b}[2J\n")
        } _: { url in
            try await RunningCommand.run(["connect", url, "-x", "a"])
        }
        #expect(result.status == 4)
        #expect(result.errors.contains("1008"))
        #expect(result.errors.contains("go␛[2J␊"))
        #expect(!result.errors.contains("\u{1b}"))
    }

    @Test("A close in order ends it with 0 and is told with its code and its reason made visible")
    func orderlyClose() async throws {
        let result = try await withWebSocketServer {
            try await $0.send("bye")
            await $0.close(code: .goingAway, reason: "night\u{7}")
        } _: { url in
            try await RunningCommand.run(["connect", url] + Self.patient)
        }
        #expect(result.status == 0)
        #expect(result.output == "bye\n")
        #expect(result.errors == "Closed by the server: 1001 (going away), “night␇”.\n")
    }

    @Test("Replies that don't come end it with 5")
    func timeout() async throws {
        let result = try await withWebSocketServer(Self.listenOnly) { url in
            try await RunningCommand.run(["connect", url, "-x", "a", "--wait", "1ms"])
        }
        #expect(result.status == 5)
        #expect(result.output.isEmpty)
    }

    @Test("As JSON the opening, each message and the end are objects, and standard error stays empty")
    func json() async throws {
        let result = try await withWebSocketServer {
            try await $0.send("hi\u{1b}")
            try await $0.send([0, 255])
            await $0.close(code: .goingAway, reason: "night")
        } _: { url in
            try await RunningCommand.run(["connect", String(url.dropFirst(5)), "--json"] + Self.patient)
        }
        let lines = try JSONScalar.lines(result.output)
        try #require(result.status == 0 && lines.count == 4, "\(result)")
        #expect(lines[0]["event"] == .text("open") && lines[0]["url"]?.text?.hasPrefix("ws://localhost:") == true)
        #expect(lines[1] == ["event": .text("text"), "text": .text("hi\u{1b}")])
        #expect(lines[2] == ["event": .text("binary"), "base64": .text("AP8=")])
        #expect(lines[3]["code"] == .number(1_001) && lines[3]["reason"] == .text("night"))
        #expect(lines[3]["byServer"] == .flag(true) && lines[3]["isClean"] == .flag(true))
    }

    @Test("As JSON lines of a stream are objects, and so is what goes wrong")
    func streamAsJSON() async throws {
        try await withServe(["tcp://localhost:0"]) { url, _ in
            let result = try await RunningCommand.run(["connect", url, "-x", "hello", "--json"])
            let events = try JSONScalar.lines(result.output).compactMap { $0["event"]?.text }
            #expect(result.status == 0 && events == ["open", "text", "close"])
        }
        let lost = try await RunningCommand.run(["connect", "127.0.0.1:1", "-x", "a", "--json"])
        let lines = try JSONScalar.lines(lost.output)
        #expect(lost.status == 2 && lines.count == 1 && lines.first?["event"] == .text("error"))
        #expect(lines.first?["status"] == .number(2) && lost.errors.contains("can't be reached"))
    }

    @Test("Another scheme ends it with 64")
    func invalidURL() async throws {
        let result = try await RunningCommand.run(["connect", "ftp://localhost/", "-x", "a"])
        #expect(result.status == 64)
    }

    @Test("A message that is larger than the limit ends it with 4")
    func limit() async throws {
        try await withServeCommand { authority in
            let arguments = ["connect", "ws://\(authority)/", "-x", "12345", "--max-message"]
            let over = try await RunningCommand.run(arguments + ["4B"])
            #expect(over.status == 4)
            let within = try await RunningCommand.run(arguments + ["5B"])
            #expect(within.status == 0)
        }
    }

    @Test("A line that isn't UTF-8 ends it with 1 after what came before, and the connection is closed in order")
    func invalidInput() async throws {
        let received = Mutex<[Message]>([])
        let report = Mutex<CloseReport?>(nil)
        let result = try await withWebSocketServer { socket in
            for try await message in socket.messages { received.withLock { $0.append(message) } }
            let end = socket.closeReport
            report.withLock { $0 = end }
        } _: { url in
            try await RunningCommand.run(["connect", url], input: Array("ok\n".utf8) + [0xFF, 0x0A])
        }
        #expect(result.status == 1)
        #expect(result.errors.contains("Line 2"))
        #expect(received.withLock(\.self) == [.text("ok")])
        #expect(report.withLock(\.self)?.received?.code == .normalClosure)
    }

    @Test("With --echo every message goes back as what it was, until the server closes")
    func echoing() async throws {
        let sent: [Message] = [.text("hi"), .binary([0, 1, 255]), .text(""), .binary([])]
        let echoes = Mutex<[Message]>([])
        let result = try await withWebSocketServer { socket in
            for message in sent {
                try await socket.send(message)
                let answer = try await socket.receive()
                echoes.withLock { $0.append(answer) }
            }
        } _: { url in
            try await RunningCommand.run(["connect", url, "--echo"])
        }
        #expect(result.status == 0)
        #expect(result.output.isEmpty)
        #expect(echoes.withLock(\.self) == sent)
    }

    @Test("Binary messages are passed on as they are, and in hexadecimal when asked for")
    func binary() async throws {
        try await withWebSocketServer {
            try await $0.send([0x61, 0x62])
        } _: { url in
            let raw = try await RunningCommand.run(["connect", url] + Self.patient)
            #expect(raw.output == "ab\n")
            let digits = try await RunningCommand.run(["connect", url, "--binary"] + Self.patient)
            #expect(digits.output == "61 62\n")
        }
    }

    @Test("On a terminal it prompts, marks what arrives, makes it visible, and closes at Ctrl-D with 0")
    func terminal() async throws {
        let handler: @Sendable (isolated WebSocket) async throws -> Void = { socket in
            for try await _ in socket.messages { try await socket.send("a\u{1b}[2Jb") }
        }
        try await withWebSocketServer(handler) { url in
            let command = try TerminalCommand(["connect", url])
            try await command.expect("Connected to \(url). Ctrl-D closes.\r\n> ")
            command.type("typed\n")
            try await command.expect("< a␛[2Jb\r\n> ")
            command.type("\u{4}")
            #expect(try await command.finish() == 0)
        }
    }

    @Test("Interrupted, it closes in order and ends with 0")
    func interrupted() async throws {
        let report = Mutex<CloseReport?>(nil)
        try await withWebSocketServer { socket in
            try await socket.send("there")
            try await listen(socket)
            let end = socket.closeReport
            report.withLock { $0 = end }
        } _: { url in
            let command = try RunningCommand(["connect", url])
            #expect(try await command.readLine() == "there")
            command.signal(2)
            #expect(try await command.finish().status == 0)
        }
        #expect(report.withLock(\.self)?.received?.code == .normalClosure)
    }
}
