// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Byte order marks")
struct ByteOrderMarkTests {
    @Test("A mark at the beginning is taken off, once, and nothing else is")
    func removing() {
        let mark = ByteOrderMark.bytes
        #expect(mark == Array("\u{FEFF}".utf8))
        for (bytes, rest) in [
            (mark, []), (mark + [1], [1]), (mark + mark, mark), ([], []), ([0xEF, 0xBB], [0xEF, 0xBB]),
            ([1] + mark, [1] + mark),
        ] {
            #expect(Array(ByteOrderMark.removed(from: bytes)) == rest)
        }
    }
}
