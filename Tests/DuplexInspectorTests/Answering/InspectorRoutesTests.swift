// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
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
