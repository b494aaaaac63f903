// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem
import Synchronization

/// Has the memory that connections leave behind go back to the system.
///
/// glibc keeps what is freed between two blocks that aren't: twenty clients that never read had left 20 to 30 MB with the
/// process when they were gone.
enum FreedMemory {
    /// How long behind the end of a connection: 5 s, and as long behind the last time.
    ///
    /// What others leave behind until then goes with it.
    static let delay = Duration.seconds(5)

    /// When it was last done, in nanoseconds; zero before the first time.
    private static let last = Atomic<Int64>(0)

    /// Gives back what is free, on a thread of its own: it takes some milliseconds where there is much, and who allocates from
    /// the same part of memory waits as long.
    ///
    /// - Returns: whether it has begun; it hasn't where it was done less than ``delay`` ago, on behalf of any loop.
    static func giveBack(_ now: Instant) -> Bool {
        let former = last.load(ordering: .relaxed)
        guard former == 0 || now >= Instant(nanoseconds: former).advanced(by: delay),
            last.compareExchange(expected: former, desired: now.nanoseconds, ordering: .relaxed).exchanged
        else { return false }
        // A system without a thread to give gets it the next time.
        try? LoopThread(name: "duplex-memory").start { cduplex_return_memory() }
        return true
    }
}
