// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import DuplexWire
import Testing

@Suite struct RequestHistoryOptionsTests {
    @Test("The defaults are those that are told of")
    func standard() {
        let options = RequestHistoryOptions()
        #expect(options.count == 500 && options.bodySize == .kibibytes(64) && options.size == .mebibytes(32))
    }
}
