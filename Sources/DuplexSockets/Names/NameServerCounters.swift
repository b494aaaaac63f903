// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// What the look-ups of one resolver have counted together.
final class NameServerCounters: Sendable {
    private let values = Mutex(StubResolver.Statistics())

    var statistics: StubResolver.Statistics {
        values.withLock { $0 }
    }

    func count(_ change: (inout StubResolver.Statistics) -> Void) {
        values.withLock { change(&$0) }
    }
}
