// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexServer

@Suite("How often each network has failed")
struct FailureTableTests {
    private func instant(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    private func fail(_ table: inout FailureTable, _ network: [UInt8], _ second: Int) -> Duration? {
        if case .refused(let wait) = table.enter(network, at: instant(second)) { return wait }
        table.leave(network, hasFailed: true, at: instant(second))
        return nil
    }

    @Test("After as many failures as are allowed a network waits for the end of the window, and others don't")
    func window() {
        var table = FailureTable(limit: 3, window: .seconds(60))
        let failures = [10, 20, 30, 31, 69].map { fail(&table, [1], $0) }
        #expect(failures == [nil, nil, nil, .seconds(39), .seconds(1)])
        let other = fail(&table, [2], 31)
        #expect(other == nil)
        let later = [70, 71, 72, 73].map { fail(&table, [1], $0) }
        #expect(later == [nil, nil, nil, .seconds(57)])
    }

    @Test("A success clears nothing, and leaves nothing where there was nothing")
    func success() {
        var table = FailureTable(limit: 2, window: .seconds(60))
        _ = table.enter([1], at: instant(1))
        table.leave([1], hasFailed: false, at: instant(1))
        #expect(table.networkCount == 0)
        _ = fail(&table, [1], 1)
        for second in 2...9 {
            let wait = table.enter([1], at: instant(second))
            #expect(wait == .admitted)
            table.leave([1], hasFailed: false, at: instant(second))
        }
        _ = fail(&table, [1], 10)
        let wait = table.enter([1], at: instant(11))
        #expect(wait == .refused(.seconds(50)))
    }

    @Test("Attempts that are being judged count until they are")
    func open() {
        var table = FailureTable(limit: 2, window: .seconds(60))
        let waits = (0..<3).map { _ in table.enter([1], at: instant(1)) }
        #expect(waits == [.admitted, .admitted, .full])
        table.leave([1], hasFailed: false, at: instant(1))
        let next = table.enter([1], at: instant(1))
        #expect(next == .admitted)
    }

    @Test("No more networks are kept than the bound allows, and those that failed last stay")
    func bounded() {
        var table = FailureTable(limit: 1, window: .seconds(1_000_000))
        for number in 0..<(FailureTable.bound + 100) {
            _ = fail(&table, [UInt8(number >> 8), UInt8(number & 0xFF)], number)
            #expect(table.networkCount <= FailureTable.bound)
        }
        let last = FailureTable.bound + 99
        let wait = table.enter([UInt8(last >> 8), UInt8(last & 0xFF)], at: instant(last))
        #expect(wait != .admitted && wait != .full)
        let first = table.enter([0, 0], at: instant(last))
        #expect(first == .admitted)
        // One that was forgotten while it was judged.
        table.leave([9, 9, 9], hasFailed: true, at: instant(last))
        table.leave([9, 9, 9], hasFailed: false, at: instant(last))
        let judged = table.enter([9, 9, 9], at: instant(last))
        #expect(judged != .admitted)
    }
}
