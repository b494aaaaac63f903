// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Logging
import Testing

@testable import DuplexInspector

@Suite("The console of a process")
struct InspectorConsoleTests {
    private static func logger(_ console: InspectorConsole) -> Logger {
        Logger(label: "app") { InspectorLogHandler(label: $0, to: console) }
    }

    @Test("The last lines are kept, in number and in bytes")
    func bounds() {
        let few = InspectorConsole(keeping: 3)
        let small = InspectorConsole(upTo: .kibibytes(4))
        for number in 0..<100 {
            Self.logger(few).info("\(number)")
            Self.logger(small).info("\(String(repeating: "x", count: 1_000))")
        }
        #expect(few.entries.all.map(\.text) == ["97", "98", "99"])
        #expect(few.entries.all.map(\.number) == [98, 99, 100])
        #expect((1...3).contains(small.entries.all.count))
    }

    @Test("Ending what hasn't begun does nothing")
    func ends() {
        InspectorConsole().endCapture()
    }
}
