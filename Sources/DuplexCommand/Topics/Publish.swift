// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexTopics

/// `duplex publish`: a message for all who are subscribed to a topic.
struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish a message to a topic of a server.",
        discussion: """
            Ends once the server has said that it is published, and prints where it stands if the topic is kept.

              duplex serve --topics
              duplex publish ws://localhost:8080/topics room/42 "Good morning"

            \(CommandStatus.explanation)
            """
    )

    @OptionGroup var target: TopicArguments

    @Argument(help: "The text.") var message: String

    func run() async throws {
        do {
            try await Interruption.shared.cancelling {
                let client = try target.client(comesBack: false)
                do {
                    let position = try await client.publish(message, to: target.topic)
                    if let position { Console.shared.print(position.description.visible) }
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
}
