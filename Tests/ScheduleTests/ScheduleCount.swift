// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import DuplexSockets
import DuplexTesting
import Foundation

/// How many schedules are performed, and which: `DUPLEX_SCHEDULES` of them from `DUPLEX_SEED` on.
enum ScheduleCount {
    static let count = number("DUPLEX_SCHEDULES") ?? 10_000
    static let seed = UInt64(number("DUPLEX_SEED") ?? 1)
    static var seeds: Range<UInt64> { seed..<(seed + UInt64(count)) }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}

extension TestLoop {
    /// Performs a schedule on the loop itself, where no step waits for another thread; each eighth elsewhere, as apps do.
    func perform<Outcome>(_ seed: UInt64, _ schedule: () async throws -> Outcome) async rethrows -> Outcome {
        if seed % 8 == 0 { return try await schedule() }
        return try await withTaskExecutorPreference(loop) { try await schedule() }
    }
}

extension Bool {
    static func oneIn(_ count: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }
}

extension Array {
    func pick(_ random: inout SeededGenerator) -> Element { self[Int.random(in: indices, using: &random)] }
}
