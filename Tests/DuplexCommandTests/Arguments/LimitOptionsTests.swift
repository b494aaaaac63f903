// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexWire
import Testing

@testable import DuplexCommand

@Suite("Limits on the command line")
struct LimitOptionsTests {
    @Test(
        "A preset stands for the library's preset of that name",
        arguments: [
            ([], MessageLimits.internet), (["--limits", "local"], .local), (["--limits", "unlimited"], .unlimited),
        ]
    )
    func presets(arguments: [String], limits: MessageLimits) throws {
        #expect(try LimitOptions.parse(arguments).messages == limits)
    }

    @Test("What is given replaces what the preset has, and nothing else")
    func overrides() throws {
        let arguments = ["--limits", "local", "--max-message", "64KiB", "--max-fragments", "7"]
        #expect(
            try LimitOptions.parse(arguments).messages == .local.with(messageSize: .kibibytes(64)).with(fragments: 7)
        )
        #expect(try LimitOptions.parse(["--max-message", "unlimited"]).messages.frameSize == .unlimited)
    }

    @Test("Rates are those of the library, and there are none by default")
    func rates() throws {
        let arguments = ["--message-rate", "50", "--byte-rate", "64KiB"]
        let limits = MessageLimits.internet.with(
            messageRate: .perSecond(50),
            byteRate: .perSecond(ByteCount.kibibytes(64))
        )
        #expect(try LimitOptions.parse(arguments).messages == limits)
        #expect(try LimitOptions.parse(["--message-rate", "1"]).messages.byteRate == nil)
        #expect(try LimitOptions.parse(["--byte-rate", "unlimited"]).messages == .internet)
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            ["--limits", "none"], ["--max-message", "lots"], ["--max-fragments", "0"], ["--max-fragments", "x"],
            ["--message-rate", "0"], ["--message-rate", "fast"], ["--byte-rate", "0"], ["--byte-rate", "fast"],
        ]
    )
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try LimitOptions.parse(arguments) }
    }
}
