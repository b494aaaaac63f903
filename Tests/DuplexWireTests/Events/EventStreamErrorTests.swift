// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Errors of event streams")
struct EventStreamErrorTests {
    @Test("An error says its code and what was seen")
    func description() {
        let error = EventStreamError(.lineTooLong, "A line is too long.")
        #expect(error.description == "EventStreamError.lineTooLong: A line is too long.")
        #expect(error.code.description == "lineTooLong" && error.code == .init(rawValue: "lineTooLong"))
    }
}
