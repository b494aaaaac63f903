// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import Testing

@Suite struct InspectorAccessTests {
    @Test("A token is needed unless the app says otherwise")
    func standard() {
        #expect(InspectorOptions().access == .token && InspectorAccess.ownToken("a") != .ownToken("b"))
    }
}

@Suite struct InspectorChangeTests {
    @Test("Each kind of change has the name that the page knows it by")
    func names() {
        let names = InspectorChange.allCases.map(\.rawValue)
        #expect(names == ["files", "sql", "sending", "killing", "replaying", "values", "commands"])
    }
}
