// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import Testing

@testable import DuplexCommand

@Suite struct TopicArgumentsTests {
    @Test(
        "Errors of topics have the status of what they are",
        arguments: [
            (TopicError.Code.unavailable, CommandStatus.cannotConnect), (.timedOut, .timedOut),
            (.closed, .connectionFailed), (.invalidResponse, .connectionFailed), (.unanswered, .connectionFailed),
            (.notAllowed, .failure), (.refused, .failure),
            (.invalidURL, .wrongUsage), (.invalidName, .wrongUsage),
        ]
    )
    func statuses(code: TopicError.Code, status: CommandStatus) {
        #expect(Failure(topics: TopicError(code, "Why\u{1b}.")).status == status)
        #expect(!Failure(topics: TopicError(code, "Why\u{1b}.")).message.contains("\u{1b}"))
    }

    @Test("Other errors are what they are elsewhere")
    func others() {
        #expect(Failure(topics: CancellationError()).status == .interrupted)
    }
}
