// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct SerialCallsTests {
    @Test("Calls are made one at a time and in their order, by a function that could make them side by side")
    func order() async {
        let made = Mutex<(numbers: [Int], isBusy: Bool)>(([], false))
        let calls = SerialCalls { call in DispatchQueue.global().async(execute: call) }
        let (done, finish) = AsyncStream<Never>.makeStream()
        for number in 0..<1_000 {
            calls.add {
                made.withLock { made in
                    #expect(!made.isBusy)
                    made.isBusy = true
                }
                made.withLock { made in
                    made.numbers.append(number)
                    made.isBusy = false
                }
                if number == 999 { finish.finish() }
            }
        }
        for await _ in done {}
        #expect(made.withLock { $0.numbers } == Array(0..<1_000))
    }
}
