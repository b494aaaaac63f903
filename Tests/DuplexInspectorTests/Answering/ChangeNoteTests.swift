// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite(.timeLimit(minutes: 1)) struct ChangeNoteTests {
    @Test("Each change is a line of the log with what, from where and what came of it; a refusal changes nothing")
    func lines() async throws {
        let log = RecordedLog()
        let options = InspectorFixture.allowing(.killing)
        var server = WebServer(port: 0)
        server.logger = log.logger
        try await InspectorFixture.run(options, server) { fixture async throws in
            #expect(try await fixture.post("connections/reset", "{'id':'ws-0'}").status == .notFound)
            #expect(try await fixture.post("connections/send", "{'id':'ws-0','text':'a'}").status == .forbidden)
            let lines = log.entries.filter { $0.message == "the inspector has changed something" }
            #expect(lines.count == 1)
            let metadata = try #require(lines.first?.metadata)
            #expect(metadata["change"] == "killing" && metadata["what"] == "resets ws-0")
            #expect(metadata["outcome"] == "There is no such connection any more." && metadata["from"] != nil)
        }
    }
}
