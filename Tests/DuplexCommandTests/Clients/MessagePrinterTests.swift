// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("Printing messages")
struct MessagePrinterTests {
    private static let bytes: [UInt8] = Array(0...39)

    @Test(
        "On a terminal what is remote is made visible, behind the mark",
        arguments: [
            (Message.text("hi\u{1b}[2J\n"), "< hi␛[2J␊\r\n"), (.binary([0x1b, 0xff]), "< binary, 2 B: 1b ff\r\n"),
            (.binary([]), "< binary, 0 B\r\n"),
        ]
    )
    func terminal(message: Message, output: String) throws {
        let terminal = try PseudoTerminal()
        let console = Console(output: terminal.program, errors: terminal.program)
        MessagePrinter(console: console, mark: "< ", showsAllBytes: false).show(message)
        terminal.expect(output)
    }

    @Test(
        "In a pipe messages are passed on as they are, or in hexadecimal when asked for",
        arguments: [
            (Message.text("hi\u{1b}[2J\nx"), false, "hi\u{1b}[2J\nx\n"), (.text("x"), true, "x\n"),
            (.binary([0x61, 0x1b]), false, "a\u{1b}\n"), (.binary([0x61, 0x1b]), true, "61 1b\n"),
        ]
    )
    func pipe(message: Message, showsAllBytes: Bool, output: String) throws {
        let pipe = try TestPipe()
        let console = Console(output: pipe.writing, errors: pipe.writing)
        MessagePrinter(console: console, mark: "< ", showsAllBytes: showsAllBytes).show(message)
        #expect(pipe.read() == output)
    }

    @Test("A topic stands in front of its message, and is made visible on a terminal as well")
    func topics() throws {
        let pipe = try TestPipe()
        let printer = MessagePrinter(
            console: Console(output: pipe.writing, errors: pipe.writing),
            mark: "",
            showsAllBytes: false
        )
        for message in [Message.text("a\u{1b}"), .binary([0x62, 0x1B])] { printer.show(message, of: "t\u{1b}") }
        #expect(pipe.read() == "t\u{1b}\ta\u{1b}\nt\u{1b}\tb\u{1b}\n")
        let terminal = try PseudoTerminal()
        let console = Console(output: terminal.program, errors: terminal.program)
        MessagePrinter(console: console, mark: "", showsAllBytes: false).show(.text("a\u{1b}"), of: "t\u{1b}")
        terminal.expect("t␛\ta␛\r\n")
    }

    @Test("As JSON a message is an object on a line")
    func json() throws {
        let pipe = try TestPipe()
        let console = Console(output: pipe.writing, errors: pipe.writing)
        MessagePrinter(console: console, mark: "", showsAllBytes: false, isJSON: true).show(.text("a\nb"))
        #expect(pipe.read() == #"{"event":"text","text":"a\nb"}"# + "\n")
    }

    @Test("A long binary message is cut unless all of it is asked for")
    func summary() throws {
        let pipe = try TestPipe()
        let console = Console(output: pipe.writing, errors: pipe.writing)
        let short = MessagePrinter(console: console, mark: "", showsAllBytes: false).summary(of: Self.bytes)
        #expect(short == "binary, 40 B: \(Self.bytes[..<32].hexadecimal) …")
        let whole = MessagePrinter(console: console, mark: "", showsAllBytes: true).summary(of: Self.bytes)
        #expect(whole == "binary, 40 B: \(Self.bytes.hexadecimal)")
    }
}

@Suite("The JSON of duplex connect")
struct ConversationFormsTests {
    @Test(
        "A message is its text, or its bytes in Base64",
        arguments: [
            (Message.text("a\u{1b}"), #"{"event":"text","text":"a\u001b"}"#),
            (.text(""), #"{"event":"text","text":""}"#), (.binary([0, 255]), #"{"base64":"AP8=","event":"binary"}"#),
        ]
    )
    func messages(message: Message, line: String) throws {
        #expect(try JSONLine.text(of: MessageForm(message)) == line)
    }

    @Test("A stream's end has nothing to say")
    func ends() throws {
        #expect(try JSONLine.text(of: ClosingForm()) == #"{"event":"close"}"#)
    }
}
