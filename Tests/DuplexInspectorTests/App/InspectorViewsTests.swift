// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Trees that the app names")
struct InspectorViewsTests {
    @Test("A tree is kept with its name and its time, and not made before somebody looks")
    func adding() async throws {
        var views = InspectorViews()
        views.add("Board") { InspectorView("a", type: "Board", width: 1, height: 1) }
        views.add("Other", within: .seconds(1)) {
            Issue.record("it is made")
            return InspectorView("a", type: "Board", width: 1, height: 1)
        }
        #expect(views.all.map(\.name) == ["Board", "Other"])
        #expect(views.all.map(\.limit) == [.seconds(5), .seconds(1)])
        #expect(try await views.all[0].root().type == "Board")
    }
}
