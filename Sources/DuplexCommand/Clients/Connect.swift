// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `duplex connect`: a client to type into, or to put into a pipe.
struct Connect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect and exchange messages, by hand or in a pipe.",
        discussion: """
            In a terminal, type a line to send it as a text message; Ctrl-D or Ctrl-C closes. A message that arrives while \
            you type takes the line's place on the screen: what you typed isn't lost, and Ctrl-R shows it again.

            In a pipe, each line of the input is sent as a text message and each message received is printed as a line; \
            everything else goes to standard error. After the last line, replies are waited for until none has come for \
            --wait, -n of them have come, or the server closes.

              duplex connect ws://localhost:8080/echo
              duplex connect ws://localhost:8080/echo -x hello -x world -n 2
              seq 1000 | duplex connect ws://localhost:8080/echo | sort -n | tail -1

            With tcp://, tls:// or unix: lines go over a stream as they are, each with a line feed behind it (--crlf: CR \
            LF); after the last one this side ends its half of the connection.

              duplex connect tls://example.com:443 --crlf
              duplex connect unix:/run/app.sock -x status

            On a terminal, control characters in messages are made visible (␛ for escape); in a pipe messages are passed \
            on as they are, line feeds in them too. A binary message is shown in hexadecimal on a terminal, and passed on \
            as it is in a pipe unless --binary is given. With --json each is an object: {"event":"text","text":"hello"}, or \
            binary with its bytes in base64; before them stands one with the event open, behind them one with close or error.

            \(CommandStatus.explanation)
            """
    )

    @Argument(
        help: """
            ws://host[:port]/path?query, wss://…, ws+unix:…, tcp://host:port, tls://host:port or unix:path; ws:// without a \
            scheme
            """,
        transform: TargetArgument.any
    )
    var target: TargetArgument

    @Option(
        name: .customShort("x"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Send this text, and end after the replies; may be repeated.", valueName: "text")
    )
    var texts: [String] = []

    @Option(
        name: [.customShort("n"), .customLong("replies")],
        help: ArgumentHelp("End after so many messages; 1 with -x, 0 not to wait for any.", valueName: "count")
    )
    var replies: Int?

    @Option(
        help: ArgumentHelp(
            "How long to wait for the next reply: 2s; 10s where -n or -x count them; 0 for not at all, or unlimited.",
            valueName: "time"
        )
    )
    var wait: TimeLimitArgument?

    @Flag(help: "Send every message back until the server closes, and read no input.")
    var echo = false

    @Flag(help: "End each line that is sent over a stream with CR LF.")
    var crlf = false

    @Flag(help: "Show binary messages in full, in hexadecimal, also in a pipe.")
    var binary = false

    @Flag(help: "Print the opening, each message and the end as JSON objects, one on each line.")
    var json = false

    @Flag(
        name: .shortAndLong,
        help: "Print each stage of connecting on the standard error as it happens, and draw all of them."
    )
    var verbose = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let replies, replies < 0 { throw ValidationError("-n must be 0 or more.") }
        if json && binary { throw ValidationError("--json has binary messages in Base64, whole: without --binary.") }
        if echo && !(texts.isEmpty && replies == nil) { throw ValidationError("--echo doesn't go with -x and -n.") }
    }

    func run() async throws {
        do {
            try await Interruption.shared.cancelling {
                if let endpoint = target.stream { try await talk(over: endpoint) } else { try await talk() }
            }
        } catch {
            Console.shared.setPrompt("")
            let failure = Failure(error)
            if json { try Console.shared.print(json: FailureForm(failure, url: url, event: "error")) }
            throw failure
        }
    }

    private var url: String { target.url }

    private func talk() async throws {
        let socket: WebSocket
        do {
            var options = try connection.webSocketOptions
            options.onStage = stagePrinter
            socket = try await WebSocket.connect(to: url, options: options)
        } catch let error as WebSocketError {
            draw(error.timeline?.waterfall())
            throw error
        }
        if verbose { draw(await socket.timeline.waterfall()) }
        if json { try Console.shared.print(json: OpeningForm(await socket.snapshot, url: url)) }
        let end = try await interruptible {
            try await exchange(on: socket)
        } onFailure: {
            await socket.close()
        }
        let report = await socket.close()
        if json { try Console.shared.print(json: ClosingForm(report)) }
        if case .failed(let failure) = end { throw failure }
        try tell(report)
    }

    /// Prints each stage as it happens, for those who want to see it.
    private var stagePrinter: (@Sendable (StageEvent) -> Void)? {
        guard verbose else { return nil }
        let began = Instant.now()
        return { event in
            let request = event.request > 1 ? "request \(event.request): " : ""
            let time = began.duration(to: event.instant).inMilliseconds
            Console.shared.complain("\(time) ms \(request)\("\(event)".visible)")
        }
    }

    /// Draws how the connection came about, or how far it came, for those who want to see it.
    private func draw(_ picture: [String]?) {
        guard verbose, let picture else { return }
        for line in picture { Console.shared.complain(line) }
    }

    private func exchange(on socket: WebSocket) async throws -> Conversation.End {
        if echo {
            try await DuplexCommand.echo(socket)
            return .done
        }
        let isInteractive = texts.isEmpty && isatty(STDIN_FILENO) == 1
        if isInteractive { greet(socket.subprotocol.map { ", subprotocol \($0.visible)" } ?? "") }
        return try await makeConversation(WebSocketPartner(socket: socket), isInteractive: isInteractive).run()
    }

    /// Talks until the end, or until it is interrupted: that is a person's way to close.
    private func interruptible(
        _ exchange: () async throws -> Conversation.End,
        onFailure: () async -> Void
    ) async throws -> Conversation.End {
        defer { Console.shared.setPrompt("") }
        do {
            return try await exchange()
        } catch let error where error.isCancellation {
            return .done
        } catch {
            await onFailure()
            throw error
        }
    }

    // MARK: Streams

    private func talk(over endpoint: Endpoint) async throws {
        let socket: Socket
        do {
            var options = try connection.connectOptions
            options.onStage = stagePrinter
            socket = try await Socket.connect(to: endpoint, options: options)
        } catch let error as SocketError {
            draw(error.waterfall())
            throw error
        }
        draw(socket.timeline?.waterfall())
        if json { try Console.shared.print(json: OpeningForm(socket.timeline, await socket.tls, url: url)) }
        let end = try await interruptible {
            try await exchange(on: socket)
        } onFailure: {
            await socket.reset()
        }
        await socket.close()
        if json { try Console.shared.print(json: ClosingForm()) }
        if case .failed(let failure) = end { throw failure }
    }

    private func exchange(on socket: Socket) async throws -> Conversation.End {
        if echo {
            while let bytes = try await socket.read() { try await socket.write(bytes) }
            return .done
        }
        let isInteractive = texts.isEmpty && isatty(STDIN_FILENO) == 1
        if isInteractive { greet(await socket.tls.map { ", \($0.version), \($0.cipherSuite)" } ?? "") }
        let limit = connection.limits.messages.messageSize.bytes
        let partner = StreamPartner(socket: socket, lineEnd: crlf ? "\r\n" : "\n", limit: limit)
        return try await makeConversation(partner, isInteractive: isInteractive).run()
    }

    private func makeConversation(_ partner: any Partner, isInteractive: Bool) throws -> Conversation {
        let lines: any LineSource = texts.isEmpty ? try InputLines(descriptor: STDIN_FILENO) : GivenLines(texts)
        let replies = replies ?? (texts.isEmpty ? nil : 1)
        let hasPrompt = isInteractive && showsPrompt
        return Conversation(
            partner: partner,
            lines: lines,
            printer: MessagePrinter(console: .shared, mark: hasPrompt ? "< " : "", showsAllBytes: binary, isJSON: json),
            rules: Conversation.Rules(
                replies: replies,
                sendsAllFirst: !texts.isEmpty,
                wait: wait.map(\.duration) ?? (replies == nil ? .seconds(2) : .seconds(10)),
                endsWithInput: isInteractive
            ),
            lineWasSent: { if hasPrompt { Console.shared.lineWasTyped() } }
        )
    }

    private func greet(_ details: String) {
        Console.shared.complain("Connected to \(url.visible)\(details). Ctrl-D closes.")
        if showsPrompt { Console.shared.setPrompt("> ") }
    }

    private var showsPrompt: Bool { Console.shared.isOutputTerminal && !json }

    /// Tells how the connection ended where that wasn't this side's doing.
    private func tell(_ report: CloseReport) throws {
        if !report.isClean {
            throw Failure(.connectionFailed, "The connection didn't close in order: \(report.description.visible).")
        }
        if report.initiator == .remote {
            Console.shared.complain("Closed by the server: \(report.received?.description.visible ?? "no code").")
        }
    }
}
