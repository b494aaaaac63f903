// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

// That it goes back is seen from outside, in a process of the server's own: PeerTests.FloodTests.
@Suite struct FreedMemoryTests {
    @Test("However many loops ask, memory is given back once in five seconds, and harms nobody who allocates meanwhile")
    func giveBack() async {
        // Behind all that real loops ask for.
        let start = Instant.now().advanced(by: .seconds(3_600))
        for second in [0, 5] {
            let now = start.advanced(by: .seconds(second))
            let begun = await withTaskGroup(of: Bool.self) { tasks in
                for task in 0..<8 {
                    tasks.addTask {
                        let hasBegun = FreedMemory.giveBack(now)
                        for size in 0..<100 {
                            let bytes = [UInt8](repeating: UInt8(task), count: 1_000 + size * 500)
                            #expect(bytes.allSatisfy { $0 == UInt8(task) })
                        }
                        return hasBegun
                    }
                }
                return await tasks.reduce(0) { $1 ? $0 + 1 : $0 }
            }
            #expect(begun == 1)
            #expect(!FreedMemory.giveBack(now.advanced(by: .milliseconds(4_999))))
        }
    }
}
