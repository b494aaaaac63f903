// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Testing

@testable import DuplexInspector

@Suite("What the system counts of the process")
struct ProcessUsageTests {
    @Test("Time goes up while the process works")
    func usage() throws {
        let before = try #require(ProcessUsage.now)
        var sum: UInt64 = 0
        var now = before
        // A tick of the kernel's is 10 ms at most.
        while now.user + now.system - before.user - before.system < 0.02 {
            for number in 0..<10_000 as Range<UInt64> { sum &+= number * number }
            now = try #require(ProcessUsage.now)
        }
        #expect(sum > 0 && now.peakMemory > 1_000_000)
        #expect(now.descriptorLimit.map { $0 > 2 } ?? true)
    }

    @Test(
        "Memory that is taken is counted",
        .enabled(if: !Sanitizer.isPresent, "A sanitizer takes the memory, and the system's library doesn't count it.")
    )
    func allocations() throws {
        let memory = [UInt8](repeating: 1, count: 64 << 20)
        let now = try #require(Allocations.now)
        // Others take and give back meanwhile, but not this.
        #expect(now.used >= 64 << 20 && now.mapped >= 64 << 20)
        #expect(memory.count == 64 << 20)
    }
}
