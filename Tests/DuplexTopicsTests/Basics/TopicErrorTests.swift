// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTopics
import Testing

@Suite("Errors of topics")
struct TopicErrorTests {
    @Test("It says its code and what was seen")
    func describesItself() {
        let error = TopicError(.invalidName, "The name is empty.")
        #expect(error.description == "TopicError.invalidName: The name is empty.")
    }
}
