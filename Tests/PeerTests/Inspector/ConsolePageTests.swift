// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Logging
import Testing

@testable import DuplexInspector

extension PeerTests {
    /// The inspector's console in a browser.
    ///
    /// What a stream brings is put into the console here: the streams of the process are those of the tests.
    @Suite(.serialized) struct ConsolePageTests {
        @Test("Chromium follows the console, filters, pauses and keeps it", .timeLimit(minutes: 3))
        func page() async throws {
            let console = InspectorConsole()
            let logger = Logger(label: "server") { InspectorLogHandler(label: $0, to: console) }
            logger.info("ready")
            Self.write(.output, "an output", to: console)
            Self.write(.error, "an error", to: console)
            logger.warning("careful", metadata: ["user": "4711", "nested": ["x": "y"]])
            var options = InspectorOptions()
            options.console = console
            try await InspectorPage.expect("web_inspector_console.py", lines: 12, options) { wish in
                await Self.produce(wish, logger, console)
            }
        }

        private static func write(_ kind: ConsoleEntry.Kind, _ text: String, to console: InspectorConsole) {
            let entry = ConsoleEntry(number: 0, time: Date().timeIntervalSince1970, kind: kind, text: text)
            console.entries.append(size: entry.size) { number in
                var entry = entry
                entry.number = number
                return entry
            }
        }

        private static func produce(_ wish: String, _ logger: Logger, _ console: InspectorConsole) async {
            switch wish {
            case "hostile":
                for line in hostile {
                    logger.info("\(line)", metadata: ["\(line)": "\(line)"])
                    write(.error, line, to: console)
                }
                logger.info("the end of the hostile ones")
            case "hundred": for number in 0..<100 { logger.info("hundred \(number)") }
            case "last": logger.info("last")
            // 10,000 lines a second for three seconds.
            case "burst":
                for number in 0..<30_000 {
                    let line = "burst \(number) of a line that is about as long as lines of a log mostly are"
                    write(.output, line, to: console)
                    if number % 100 == 99 { try? await Task.sleep(for: .milliseconds(10)) }
                }
            // More than are kept, at once.
            case "flood": for number in 0..<50_000 { write(.output, "flood \(number)", to: console) }
            default: break
            }
        }

        /// What terminals and pages might act on.
        private static let hostile = [
            "\u{1B}[1;31mred\u{1B}[0m and plain", "<img src=x onerror=hacked=1>", "<script>hacked=1</script>",
            "\u{1B}[31", "\u{1B}]0;hidden title\u{7}titled",
            "\u{1B}]8;;javascript:hacked=1\u{1B}\\link\u{1B}]8;;\u{1B}\\",
            "\u{1B}[38;5;196m196\u{1B}[48;2;0;0;0m rgb\u{1B}[38:2::1:2:3m colons",
            "\u{1B}[8mconcealed\u{1B}[2J\u{1B}[H", "\u{1B}[37;47mwhite on white",
            "\u{1B}[38;5;999m\u{1B}[38;2;1m\u{1B}[99999999999999999999m\u{1B}[;;;;m",
            "\u{202E}turned about\u{0}\u{8}\u{7F}", "a [(* pattern", "⟨FF⟩", "wide 東京 🌷",
            "${hacked=1}{{hacked=1}}", "\" onmouseover=\"hacked=1", "\u{9B}31mC1",
            String(repeating: "\u{1B}]", count: 2_000), String(repeating: "\u{1B}[31m", count: 2_000) + "deep",
        ]
    }
}
#endif
