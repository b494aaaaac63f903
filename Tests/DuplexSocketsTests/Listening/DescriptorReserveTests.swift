// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct DescriptorReserveTests {
    @Test(
        "An eighth is left for files, and 128 at most",
        arguments: [(8, 7), (64, 56), (1_024, 896), (1_048_576, 1_048_448), (7, 7)]
    )
    func first(of most: UInt64, is number: UInt64) {
        #expect(DescriptorReserve.first(of: most) == number)
    }

    @Test("A process with a few descriptors hasn't touched it")
    func untouched() {
        #expect(DescriptorReserve.isUntouched)
    }
}
