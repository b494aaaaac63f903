// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire
import Logging
import Testing

@testable import DuplexInspector

@Suite("The console of a process")
struct InspectorConsoleTests {
    private static func logger(_ console: InspectorConsole) -> Logger {
        Logger(label: "app") { InspectorLogHandler(label: $0, to: console) }
    }

    @Test("The last lines are kept, in number and in bytes")
    func bounds() {
        let few = InspectorConsole(keeping: 3)
        let small = InspectorConsole(limit: .kibibytes(4))
        for number in 0..<100 {
            Self.logger(few).info("\(number)")
            Self.logger(small).info("\(String(repeating: "x", count: 1_000))")
        }
        #expect(few.entries.all.map(\.text) == ["97", "98", "99"])
        #expect(few.entries.all.map(\.number) == [98, 99, 100])
        #expect((1...3).contains(small.entries.all.count))
    }

    @Test("No line has the token of an inspector, in its text, its metadata or a URL")
    func secrets() throws {
        let secret = InspectorSecret([RandomText.hexadecimal(), "another-token-of-somebody"])
        let console = InspectorConsole()
        let logger = Self.logger(console)
        logger.info(
            "cookie: duplex-inspector-1=another-token-of-somebody; b",
            metadata: ["all": ["x another-token-of-somebody"]]
        )
        logger.info("GET /page?x=1&token=of-the-app HTTP/1.1")
        let lines = console.entries.all.map(\.line)
        #expect(lines[0].contains("duplex-inspector-1=••••••; b") && lines[0].contains("x ••••••"))
        #expect(lines[1].contains("?x=1&token=•••••• HTTP/1.1"))
        let shown = try console.entries.all.map { try CompactJSON.text(of: $0.shown) }
        #expect(shown.allSatisfy { !$0.contains("another-token-of-somebody") })
        withExtendedLifetime(secret) {}
    }

    @Test("Ending what hasn't begun does nothing")
    func ends() {
        InspectorConsole().endCapture()
    }
}
