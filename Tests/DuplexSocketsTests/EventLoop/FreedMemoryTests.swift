// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

// That it goes back is seen from outside, in a process of the server's own: PeerTests.FloodTests.
@Suite struct FreedMemoryTests {
    @Test("Giving back harms nobody who allocates meanwhile, also when it is asked for several times at once")
    func giveBack() async {
        await withTaskGroup(of: Int.self) { tasks in
            for task in 0..<8 {
                tasks.addTask {
                    var sum = 0
                    for round in 0..<200 {
                        let bytes = [UInt8](repeating: UInt8(task), count: 1_000 + round * 500)
                        if round % 20 == 0 { FreedMemory.giveBack() }
                        sum += bytes.reduce(0) { $0 + Int($1) } - bytes.count * task
                    }
                    return sum
                }
            }
            for await sum in tasks { #expect(sum == 0) }
        }
    }
}
