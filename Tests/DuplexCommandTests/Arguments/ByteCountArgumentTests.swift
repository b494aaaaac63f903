// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("A size on the command line")
struct ByteCountArgumentTests {
    @Test("A size is read as from any text, and anything else is none")
    func reading() {
        #expect(ByteCount(argument: "64KiB") == .kibibytes(64))
        #expect(ByteCount(argument: "unlimited") == .unlimited)
        #expect(ByteCount(argument: "1.5KiB") == nil)
    }

    @Test("What is shown as a default can be typed")
    func defaults() {
        for size in [ByteCount(0), 32, 100, 65_536, 1_048_577, .unlimited] {
            #expect(ByteCount(argument: size.defaultValueDescription) == size)
        }
    }
}
