// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("What the parts of the inspector answer", .timeLimit(minutes: 1))
struct InspectorRoutesTests {
    @Test("Changes that the app doesn't allow are refused with the name that would allow them")
    func refused() async throws {
        try await InspectorFixture.run { fixture async throws in
            let answer = try await fixture.post("connections/send", "{'id':'ws-1','text':'a'}")
            #expect(answer.status == .forbidden && answer.text.contains("sending"))
        }
    }

    @Test("Each kind of change is checked by its own name", arguments: InspectorChange.allCases)
    func kinds(kind: InspectorChange) {
        for other in InspectorChange.allCases {
            let isAllowed = (try? InspectorRoutes.check(kind, [other])) != nil
            #expect(isAllowed == (kind == other))
        }
    }
}

@Suite struct InspectorAnswerTests {
    @Test("Answers are JSON that nobody keeps, and files are to be kept")
    func answers() throws {
        let object = try InspectorAnswer.json(["a": 1])
        #expect(object.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "{\"a\":1}\n")
        #expect(object.headers[.contentType] == "application/json" && object.headers[.cacheControl] == "no-store")
        let file = InspectorAnswer.attachment(.json, named: "a b.har", [1])
        #expect(file.headers[.contentDisposition]?.contains("attachment") == true && file.body.bytes == [1])
    }
}

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
