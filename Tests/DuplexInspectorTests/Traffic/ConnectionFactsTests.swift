// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite struct ConnectionFactsTests {
    @Test("The page gets what is known, and nothing in the place of what isn't")
    func shown() throws {
        var facts = ConnectionFacts(id: "ws-1", kind: .webSocket, state: "open")
        facts.bytesIn = .max
        let text = try CompactJSON.text(of: facts.shown)
        #expect(
            text == #"{"bytesIn":9223372036854775807,"client":false,"id":"ws-1","kind":"webSocket","state":"open"}"#
        )
    }

    @Test("Durations are seconds")
    func seconds() {
        #expect(Duration.milliseconds(1_500).inSeconds == 1.5 && Duration.nanoseconds(-1).inSeconds < 0)
    }
}
