// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct ChangeBroadcastTests {
    private func numbers(_ changes: AsyncStream<Int>) async -> [Int] {
        var numbers: [Int] = []
        for await change in changes { numbers.append(change) }
        return numbers
    }

    @Test("Every observer gets each change once and in order, behind the last one there was")
    func order() async {
        let broadcast = ChangeBroadcast<Int>()
        let first = broadcast.observe()
        for number in 1...3 { broadcast.tell(number) }
        let second = broadcast.observe()
        for number in 4...5 { broadcast.tell(number) }
        broadcast.finish()
        let third = broadcast.observe()
        #expect(await numbers(first) == [1, 2, 3, 4, 5])
        #expect(await numbers(second) == [3, 4, 5])
        #expect(await numbers(third) == [5])
        #expect(broadcast.count == 0)
    }

    @Test("One that is too far behind loses the oldest, and sees it by the numbers")
    func bound() async {
        let broadcast = ChangeBroadcast<Int>()
        let observer = broadcast.observe()
        for number in 1...2_000 { broadcast.tell(number) }
        broadcast.finish()
        #expect(await numbers(observer) == Array((2_001 - ChangeBroadcast<Int>.limit)...2_000))
    }

    @Test("One that observes no more is forgotten")
    func leaving() {
        let broadcast = ChangeBroadcast<Int>()
        var observer: AsyncStream<Int>? = broadcast.observe()
        #expect(broadcast.count == 1 && observer != nil)
        observer = nil
        #expect(broadcast.count == 0)
    }
}
