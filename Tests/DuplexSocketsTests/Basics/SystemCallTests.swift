// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("Without a plan the calls are made as they are") struct SystemCallTests {
    @Test("Each is made once, with what it was given, and its result handed on", arguments: SystemCall.allCases)
    func unplanned(call: SystemCall) {
        var made: [Int] = []
        let result = call.make { () -> Int32 in
            made.append(0)
            return 4
        }
        let moved = call.move(9) { count in
            made.append(count)
            return count - 1
        }
        let number = call.number {
            made.append(1)
            return 5
        }
        #expect(result == 4)
        #expect(moved == 8)
        #expect(number == 5)
        #expect(made == [0, 9, 1])
    }
}
