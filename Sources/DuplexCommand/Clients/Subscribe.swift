// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexTopics

/// `duplex subscribe`: what is published to a topic, line by line.
struct Subscribe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what is published to a topic of a server.",
        discussion: """
            Comes back by itself when the connection is lost, and goes on where it was; where something may be missing it says so on \
            standard error.

              duplex subscribe ws://localhost:8080/topics room/42 -n 10
              duplex subscribe ws://localhost:8080/topics 'room/#' --topics

            On a terminal, control characters in messages are made visible (␛ for escape); in a pipe messages are passed on as they \
            are, line feeds in them too.

            \(CommandStatus.explanation)
            """
    )

    @OptionGroup var target: TopicArguments

    @Option(name: .shortAndLong, help: ArgumentHelp("How many messages, and then the end.", valueName: "count"))
    var number: Int?

    @Option(help: ArgumentHelp("How many of the last messages that are kept come first.", valueName: "count"))
    var last = 0

    @Flag(help: "Print the topic in front of each message.") var topics = false

    func validate() throws {
        if let number, number < 1 { throw ValidationError("-n must be 1 or more.") }
        if last < 0 { throw ValidationError("--last must be 0 or more.") }
    }

    func run() async throws {
        do {
            try await Interruption.shared.cancelling { try await follow() }
        } catch {
            throw Failure(topics: error)
        }
    }

    private func follow() async throws {
        let client = try target.client(comesBack: true)
        do {
            try await take(client)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    private func take(_ client: TopicClient) async throws {
        var left = number ?? .max
        let printer = MessagePrinter(console: .shared, mark: "", showsAllBytes: false)
        let replay = last > 0 ? TopicReplay.last(last) : .none
        for try await message in client.subscribe(to: target.topic, replay: replay) {
            if message.isAfterGap { Console.shared.complain("Something may be missing here.") }
            printer.show(message.message, of: topics ? message.topic : nil)
            left -= 1
            if left == 0 { break }
        }
    }
}
