// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem
import Synchronization

/// Has the memory that connections leave behind go back to the system.
///
/// glibc keeps what is freed between two blocks that aren't: twenty clients that never read had left 20 to 30 MB with the
/// process when they were gone.
enum FreedMemory {
    /// How long behind the end of a connection: 5 s.
    ///
    /// What others leave behind until then goes with it.
    static let delay = Duration.seconds(5)

    private static let isUnderWay = Atomic<Bool>(false)

    /// Gives back what is free, on a thread of its own: it takes some milliseconds where there is much.
    static func giveBack() {
        guard isUnderWay.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
        do {
            try LoopThread(name: "duplex-memory").start {
                cduplex_return_memory()
                isUnderWay.store(false, ordering: .relaxed)
            }
        } catch {
            // A system without a thread to give gets it the next time.
            isUnderWay.store(false, ordering: .relaxed)
        }
    }
}
