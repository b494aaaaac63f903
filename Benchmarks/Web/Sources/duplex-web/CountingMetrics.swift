// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CoreMetrics
import Synchronization

/// Instruments that add up what they are told, as little as any that is of use does.
final class CountingMetrics: MetricsFactory {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Sum() }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Sum() }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { Sum() }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler { Sum() }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
}

private final class Sum: CounterHandler, MeterHandler, TimerHandler, RecorderHandler {
    private let sum = Atomic<Int64>(0)
    private let count = Atomic<Int64>(0)

    private func add(_ value: Int64) {
        sum.wrappingAdd(value, ordering: .relaxed)
        count.wrappingAdd(1, ordering: .relaxed)
    }

    func increment(by amount: Int64) { add(amount) }
    func increment(by amount: Double) { add(Int64(amount)) }
    func decrement(by amount: Double) { add(-Int64(amount)) }
    func record(_ value: Int64) { add(value) }
    func record(_ value: Double) { add(Int64(value)) }
    func recordNanoseconds(_ duration: Int64) { add(duration) }
    func set(_ value: Int64) { sum.store(value, ordering: .relaxed) }
    func set(_ value: Double) { set(Int64(value)) }
    func reset() { sum.store(0, ordering: .relaxed) }
}
