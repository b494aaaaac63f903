// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct AccessLogFormatTests {
    @Test("Each says in a way of its own that lines are missing")
    func notes() {
        #expect(AccessLogFormat.combined.note(ofDropped: 3) == "# 3 lines were dropped here.")
        #expect(AccessLogFormat.json.note(ofDropped: 3) == #"{"dropped":3}"#)
        #expect(AccessLogFormat.combined != .json)
    }
}
