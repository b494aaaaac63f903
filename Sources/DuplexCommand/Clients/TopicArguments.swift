// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexTopics
import DuplexWebSockets
import DuplexWire

/// The server and the topic of `duplex publish` and `duplex subscribe`.
struct TopicArguments: ParsableArguments {
    @Argument(
        help: "ws://host[:port]/path, where the server speaks the JSON protocol of topics; ws:// without a scheme.",
        transform: TargetArgument.webSocket
    )
    var url: String

    @Argument(help: "The topic, such as room/42; to subscribe also a pattern, with + for a segment and # for the rest.")
    var topic: String

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        do {
            _ = try TopicName.check(topic)
        } catch {
            throw ValidationError("The topic “\(topic.visible)” can't be: \(error)")
        }
    }

    /// Makes a client; one that doesn't come back ends with its first connection.
    func client(comesBack: Bool) throws -> TopicClient {
        var options = TopicClientOptions()
        options.reconnectOptions.webSocketOptions = try connection.webSocketOptions
        options.reconnectOptions.attemptTimeout = connection.timeout.duration
        options.requestTimeout = connection.timeout.duration
        if !comesBack { options.policy.attemptLimit = 1 }
        return TopicClient(url, options: options)
    }
}

extension Failure {
    /// What an error of topics means for the command.
    init(topics error: any Error) {
        guard let error = error as? TopicError else {
            self.init(error)
            return
        }
        let status: CommandStatus =
            switch error.code {
            case .invalidURL, .invalidName: .wrongUsage
            case .unavailable: .cannotConnect
            case .timedOut: .timedOut
            case .closed, .unanswered, .invalidResponse: .connectionFailed
            default: .failure
            }
        self.init(status, error.message.visible)
    }
}
