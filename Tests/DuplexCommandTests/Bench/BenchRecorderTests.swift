// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Histogram
import Testing

@testable import DuplexCommand

@Suite("Recording latencies")
struct BenchRecorderTests {
    @Test("What several recorders have is put together")
    func merged() {
        let recorders = [BenchRecorder(), BenchRecorder(), BenchRecorder()]
        for value in 1...100 as ClosedRange<UInt64> { recorders[0].record(value) }
        recorders[1].record(5_000_000_000)
        #expect(recorders.map(\.count) == [100, 1, 0])
        let sum = BenchRecorder.merged(recorders)
        #expect(sum.totalCount == 101)
        #expect(sum.min == 1)
        #expect(sum.valueAtPercentile(50) == 51)
        #expect(sum.maxRecorded >= 5_000_000_000)
    }

    @Test("A run goes through its stages")
    func stages() {
        let stage = BenchStage()
        #expect(stage.name == .warmingUp)
        for name in [BenchStage.Name.measuring, .draining] {
            stage.name = name
            #expect(stage.name == name)
        }
    }
}
