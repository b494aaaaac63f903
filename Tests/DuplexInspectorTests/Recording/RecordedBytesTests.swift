// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Bytes that were recorded")
struct RecordedBytesTests {
    @Test("They are cut when there were more than are kept", arguments: [(0, false), (3, false), (4, true)])
    func cut(size: UInt64, isCut: Bool) {
        let bytes = RecordedBytes([1, 2, 3], of: size)
        #expect(bytes.isCut == isCut)
        #expect(bytes.size >= 3)
    }

    @Test("All are kept unless a size is given")
    func whole() {
        #expect(RecordedBytes([1, 2]).size == 2)
        #expect(!RecordedBytes([1, 2]).isCut)
        #expect(RecordedBytes() == RecordedBytes([]))
    }
}
