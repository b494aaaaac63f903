// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("A recording")
struct RecordingTests {
    @Test("Two are the same when what was recorded is")
    func equality() {
        var one = Recording()
        #expect(one == Recording())
        one.exchanges.append(RecordedExchange(id: 1, began: 0, method: "GET", url: "http://example.com/"))
        #expect(one != Recording())
    }
}
