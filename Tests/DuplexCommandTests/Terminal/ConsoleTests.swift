// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging
import Testing

@testable import DuplexCommand

@Suite("The console")
struct ConsoleTests {
    @Test("A terminal is told from a pipe")
    func kinds() throws {
        let terminal = try PseudoTerminal()
        let pipe = try TestPipe()
        let console = Console(output: terminal.program, errors: pipe.writing)
        #expect(console.isOutputTerminal)
        #expect(!console.isErrorTerminal)
    }

    @Test("A line goes out at once and unchanged, to the stream it is for")
    func lines() throws {
        let output = try TestPipe()
        let errors = try TestPipe()
        let console = Console(output: output.writing, errors: errors.writing)
        console.print("one")
        #expect(output.read() == "one\n")
        console.complain("two")
        #expect(errors.read() == "two\n")
        console.print([0x61, 0x1b])
        #expect(output.read() == "a\u{1b}\n")
    }

    @Test("Complaints wait for nobody: what standard error has no room for is dropped, and how much that was is told")
    func nobodyReads() async throws {
        let output = try TestPipe()
        let errors = try TestPipe()
        let console = Console(output: output.writing, errors: errors.writing)
        let line = String(repeating: "x", count: 1_000)
        // A pipe has room for 64 KiB, and 256 KiB wait.
        for _ in 0..<1_000 { console.complain(line) }
        console.print("one")
        #expect(output.read() == "one\n")
        var text = ""
        // Not always the last line: where the writer was late, there was room again for some behind the drops.
        while !text.contains(#/duplex: [^\n]* were dropped/#) { text += errors.read() }
        #expect(text.split(separator: "\n").count < 500)
    }

    @Test("What nobody has read at the end is a failure, but not of a server", arguments: [true, false])
    func unreadAtTheEnd(isServer: Bool) async throws {
        let output = try TestPipe()
        let errors = try TestPipe()
        let console = Console(output: output.writing, errors: errors.writing)
        if isServer { console.makeReadersOptional() }
        console.hurry()
        try await RunningCommand.offPool { console.print([UInt8](repeating: 0x61, count: 1_000_000)) }
        #expect((console.loss == nil) == isServer)
    }

    @Test("Where both streams go to one place, lines keep their order")
    func order() throws {
        let terminal = try PseudoTerminal()
        let console = Console(output: terminal.program, errors: terminal.program)
        for number in 0..<20 {
            console.complain("\(number) a")
            console.print("\(number) b")
        }
        terminal.expect((0..<20).map { "\($0) a\r\n\($0) b\r\n" }.joined())
    }

    @Test("A line that comes while a prompt is shown takes its place, and the prompt comes back")
    func prompt() throws {
        let terminal = try PseudoTerminal()
        let console = Console(output: terminal.program, errors: terminal.program)
        console.setPrompt("> ")
        terminal.expect("> ")
        console.print("hello")
        terminal.expect("\r\u{1b}[Khello\r\n> ")
        console.complain("oh")
        terminal.expect("\r\u{1b}[Koh\r\n> ")
        console.lineWasTyped()
        terminal.expect("> ")
        console.setPrompt("")
        terminal.expect("\r\u{1b}[K")
        console.print("bye")
        terminal.expect("bye\r\n")
    }

    @Test("Progress overwrites itself on a terminal, and a pipe gets none")
    func progress() throws {
        let terminal = try PseudoTerminal()
        let pipe = try TestPipe()
        Console(output: pipe.writing, errors: terminal.program).showProgress("1 s")
        terminal.expect("\r\u{1b}[K1 s")
        let piped = Console(output: terminal.program, errors: pipe.writing)
        piped.showProgress("1 s")
        piped.complain("end")
        #expect(pipe.read() == "end\n")
    }
}

@Suite("The screen")
struct ScreenTests {
    @Test("A prompt stays below what is shown, and erasing it leaves nothing")
    func prompt() throws {
        let terminal = try PseudoTerminal()
        let stream = StandardStream(terminal.program)
        let screen = Screen(output: stream, errors: stream)
        screen.setPrompt("> ")
        terminal.expect("> ")
        #expect(screen.show(Array("hello".utf8), on: screen.errors))
        terminal.expect("\r\u{1b}[Khello\r\n> ")
        screen.repeatPrompt()
        terminal.expect("> ")
        screen.setPrompt("")
        terminal.expect("\r\u{1b}[K")
        screen.showProgress("1 s")
        terminal.expect("\r\u{1b}[K1 s")
        #expect(screen.show(Array("done".utf8), on: screen.errors))
        terminal.expect("\r\u{1b}[Kdone\r\n")
        #expect(screen.show(Array("more".utf8), on: screen.errors))
        terminal.expect("more\r\n")
    }

    @Test("A stream that nobody reads doesn't hold up the other")
    func independent() async throws {
        let output = try TestPipe()
        let errors = try TestPipe()
        let screen = Screen(output: StandardStream(output.writing), errors: StandardStream(errors.writing))
        let much = [UInt8](repeating: 0x61, count: 1_000_000)
        async let isShown = RunningCommand.offPool { screen.show(much, on: screen.errors) }
        #expect(screen.show(Array("one".utf8), on: screen.output))
        #expect(output.read() == "one\n")
        screen.errors.hurry()
        #expect(try await !isShown)
    }
}

@Suite("Log lines")
struct ConsoleLogHandlerTests {
    @Test("A line has the level, the message and what goes with it, in the order of the names")
    func line() {
        let metadata: Logger.Metadata = ["path": "/x", "error": "reset"]
        #expect(
            ConsoleLogHandler.line(.warning, "a request failed", metadata)
                == #"warning: a request failed error="reset" path="/x""#
        )
    }

    @Test("What a peer may have put into a line is made visible, line ends too")
    func visible() {
        #expect(ConsoleLogHandler.line(.error, "x\u{1b}[2J", ["path": "a\nb"]) == #"error: x␛[2J path="a␊b""#)
    }

    @Test("Metadata that is set is read back")
    func metadata() {
        var handler = ConsoleLogHandler()
        handler[metadataKey: "a"] = "1"
        #expect(handler[metadataKey: "a"] == "1")
        #expect(handler.metadata == ["a": "1"])
    }
}
