// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("A size on the command line")
struct ByteCountArgumentTests {
    @Test(
        "A number and a unit make a size",
        arguments: [
            ("0", 0), ("100", 100), ("32B", 32), ("64KiB", 65_536), ("1MiB", 1_048_576), ("2GiB", 2_147_483_648),
            ("64KB", 64_000), ("64kB", 64_000), ("3MB", 3_000_000), ("1GB", 1_000_000_000),
            ("9223372036854775807", Int.max), ("unlimited", Int.max),
        ]
    )
    func accepted(text: String, bytes: Int) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test(
        "Anything else is no size",
        arguments: [
            "", "B", "KiB", "-1", "+1", "1.5KiB", "1 KiB", "1kib", "1K", "1TB", "0x10", "1KiBs", "Unlimited", "１",
            "9223372036854775808", "9007199254740993KiB",
        ]
    )
    func refused(text: String) {
        #expect(ByteCount(argument: text) == nil)
    }

    @Test("What is shown as a default can be typed")
    func defaults() {
        for size in [ByteCount(0), 32, 100, 65_536, 1_048_577, .unlimited] {
            #expect(ByteCount(argument: size.defaultValueDescription) == size)
        }
    }
}
