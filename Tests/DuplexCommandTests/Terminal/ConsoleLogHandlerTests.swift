// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Logging
import Testing

@testable import DuplexCommand

@Suite("Log lines")
struct ConsoleLogHandlerTests {
    @Test("A line has the level, the message and what goes with it, in the order of the names")
    func line() {
        let metadata: Logger.Metadata = ["path": "/x", "error": "reset"]
        #expect(
            ConsoleLogHandler.line(.warning, "a request failed", metadata)
                == #"warning: a request failed error="reset" path="/x""#
        )
    }

    @Test("What a peer may have put into a line is made visible, line ends too")
    func visible() {
        #expect(ConsoleLogHandler.line(.error, "x\u{1b}[2J", ["path": "a\nb"]) == #"error: x␛[2J path="a␊b""#)
    }

    @Test("Metadata that is set is read back")
    func metadata() {
        var handler = ConsoleLogHandler()
        handler[metadataKey: "a"] = "1"
        #expect(handler[metadataKey: "a"] == "1")
        #expect(handler.metadata == ["a": "1"])
    }
}
