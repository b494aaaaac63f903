// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexTopics

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `duplex publish`: a message for all who are subscribed to a topic.
struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish a message to a topic of a server.",
        discussion: """
            Ends once the server has said that it is published, and prints where it stands if the topic is kept. Without a text it \
            publishes each line of its input, one after the other, until the input ends.

              duplex serve --topics
              duplex publish ws://localhost:8080/topics room/42 "Good morning"
              tail -f prices.txt | duplex publish ws://localhost:8080/topics room/prices

            \(CommandStatus.explanation)
            """
    )

    @OptionGroup var target: TopicArguments

    @Argument(help: "The text. Default: each line of the standard input is a message.") var message: String?

    func run() async throws {
        do {
            try await Interruption.shared.cancelling {
                let client = try target.client(comesBack: false)
                do {
                    try await publish(by: client)
                } catch {
                    await client.close()
                    throw error
                }
                await client.close()
            }
        } catch {
            throw Failure(topics: error)
        }
    }

    private func publish(by client: TopicClient) async throws {
        let lines: any LineSource =
            if let message { GivenLines([message]) } else { try InputLines(descriptor: STDIN_FILENO) }
        while let line = try await lines.next() {
            let position = try await client.publish(line, to: target.topic)
            if let position { Console.shared.print(position.description.visible) }
        }
    }
}
