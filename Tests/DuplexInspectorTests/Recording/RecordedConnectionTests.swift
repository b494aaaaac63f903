// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("A WebSocket that was recorded")
struct RecordedConnectionTests {
    @Test("By default it is open and has no frames")
    func defaults() {
        let connection = RecordedConnection(id: 1, isClient: true, url: "ws://example.com/", isSecure: false, began: 2)
        #expect(connection.ended == nil)
        #expect(connection.closeCode == nil)
        #expect(connection.frames == [])
        #expect(connection.lostFrames == 0)
    }
}
