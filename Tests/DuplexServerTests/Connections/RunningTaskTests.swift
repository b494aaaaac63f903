// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct RunningTaskTests {
    @Test("A task of a group is cancelled by itself, and the others go on")
    func cancelling() async {
        let cancelled = await withTaskGroup(of: Bool.self) { group in
            for isMeant in [true, false] {
                group.addTask {
                    if isMeant { RunningTask.current?.cancel() }
                    return isMeant == Task.isCancelled
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(cancelled)
    }

    @Test("Outside of tasks there is none")
    func none() {
        #expect(RunningTask.current == nil || Task.isCancelled == false)
    }
}
