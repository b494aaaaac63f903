// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// `duplex bench`: load, with every echo checked.
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load an echo server, check every echo, and report rate and latency.",
        discussion: """
            Each connection keeps --depth messages in flight. Every echo is compared with what was sent: order, kind, \
            length and all bytes; the exit status is 4 when one differs, a connection is lost, or one doesn't come. Ctrl-C \
            ends early with a report. The time that --timeout gives to connecting is also given to the last echoes. Messages \
            of --size are accepted whatever the limits. Both sides share the machine's cores: a server is measured best from another one.

              duplex serve --handler sync --quiet &
              duplex bench ws://localhost:8080/echo --connections 50 --size 32B --depth 16 --duration 10s
              duplex bench ws://localhost:8080/echo --text --size 64KiB --json

            \(CommandStatus.explanation)
            """
    )

    @Argument(
        help: "ws://host[:port]/path?query, wss://… or ws+unix:…; ws:// without a scheme",
        transform: TargetArgument.webSocket
    )
    var url: String

    @Option(help: ArgumentHelp("How many connections.", valueName: "count"))
    var connections = 50

    @Option(help: ArgumentHelp("The size of each message.", valueName: "size"))
    var size = ByteCount(32)

    @Option(help: ArgumentHelp("How many messages each connection keeps in flight.", valueName: "count"))
    var depth = 1

    @Option(help: ArgumentHelp("How long to measure.", valueName: "time"))
    var duration = TimeArgument.seconds(10)

    @Option(help: ArgumentHelp("How long to load before measuring; 0 for not at all.", valueName: "time"))
    var warmup = TimeArgument.seconds(1)

    @Flag(help: "Send text messages rather than binary ones.")
    var text = false

    @Option(
        help: ArgumentHelp(
            "What connects: a socket with a synchronous handler, a socket with a task, the sessions of a reconnecting client, "
                + "or such a client as one endless socket.",
            valueName: "client"
        )
    )
    var client = BenchClient.handler

    @Option(help: ArgumentHelp("How many event loops. Default: one for each core.", valueName: "count"))
    var loops: Int?

    @Flag(help: "Print the report as one JSON object.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard connections >= 1, depth >= 1, loops ?? 1 >= 1 else {
            throw ValidationError("--connections, --depth and --loops must be 1 or more.")
        }
        guard size <= .gibibytes(1) else { throw ValidationError("--size must be 1GiB at most.") }
        try duration.check(as: "--duration")
    }

    func run() async throws {
        DescriptorLimit.raise()
        let report: BenchReport
        do {
            report = try await Interruption.shared.cancelling { try await load() }
        } catch {
            let failure = Failure(error)
            Console.shared.showProgress("")
            if json { try Console.shared.print(json: FailureForm(failure, url: url)) }
            throw failure
        }
        Console.shared.showProgress("")
        Console.shared.print(json ? try report.json : report.text)
        if !report.failures.isEmpty {
            throw Failure(.connectionFailed, report.distinctFailures.joined(separator: "\n"))
        }
    }

    private func load() async throws -> BenchReport {
        var options = try connection.webSocketOptions
        options.compression = (connection.compression ?? .off).compression
        let plan = BenchRun.Plan(
            url: url,
            connections: connections,
            size: size.bytes,
            depth: depth,
            kind: text ? .text : .binary,
            duration: duration.duration,
            warmup: warmup.duration,
            options: options,
            echoTimeout: connection.timeout.duration,
            client: client
        )
        let group = if let loops { try EventLoopGroup(loops: loops) } else { EventLoopGroup.shared }
        let run = BenchRun(plan: plan, group: group) { messages, elapsed in
            let seconds = Double(elapsed.wholeNanoseconds) / 1e9
            let rate = (Double(messages) / max(seconds, 0.001)).fixed(0)
            Console.shared.showProgress("\(seconds.fixed(0)) s: \(messages.grouped) echoes, \(rate) messages/s")
        }
        return try await run.run()
    }
}
