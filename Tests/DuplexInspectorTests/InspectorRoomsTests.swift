// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite struct InspectorRoomsTests {
    @Test("Parts that need something of the app are there when it is given")
    func parts() throws {
        func pages(_ options: InspectorOptions) -> [String] {
            let history = RequestHistory(options.requests)
            return InspectorRooms.all(options, history, below: "/_inspect", on: nil).map(\.page)
        }
        var options = InspectorOptions()
        let few = pages(options)
        #expect(few.first == "connections" && few.contains("machine") && !few.contains("databases"))
        options.databases["Main"] = "/none"
        options.console = InspectorConsole()
        let more = pages(options)
        #expect(more.contains("databases") && more.contains("console") && Set(more).count == more.count)
    }
}
