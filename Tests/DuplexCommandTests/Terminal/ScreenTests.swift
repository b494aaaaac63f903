// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

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
