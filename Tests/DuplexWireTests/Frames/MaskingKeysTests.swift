// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexWire

@Suite("Sources of masking keys")
struct MaskingKeysTests {
    @Test("Each key is drawn afresh")
    func drawing() {
        let count = Mutex<UInt32>(0)
        let keys = MaskingKeys {
            count.withLock { count in
                count += 1
                return count
            }
        }
        #expect((0..<3).map { _ in keys.next() } == [1, 2, 3])
    }
}
