// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Logging
import Testing

@testable import DuplexInspector

extension PeerTests {
    /// The inspector's page of the machine in a browser.
    @Suite(.serialized) struct MachinePageTests {
        @Test("Chromium shows the process, its loops and the machine", .timeLimit(minutes: 3))
        func page() async throws {
            var options = InspectorOptions()
            options.console = InspectorConsole()
            let group = try EventLoopGroup(loops: 2)
            try await InspectorPage.expect("web_inspector_machine.py", lines: 8, options, on: group) { wish in
                switch wish {
                case "busy": Self.work()
                // A loop that doesn't run the page's own connection may be held up; which one that is nobody knows.
                case "block": for loop in group.loops { loop.execute { _ in Thread.sleep(forTimeInterval: 0.35) } }
                default: break
                }
            }
            await group.stop()
        }

        /// Uses a processor for two seconds of its time, however long that takes beside others.
        private static func work() {
            Thread.detachNewThread {
                let end = (ProcessUsage.now?.user ?? 0) + 2
                var sum: UInt64 = 0
                while (ProcessUsage.now?.user ?? end) < end {
                    for number in 0..<10_000 as Range<UInt64> { sum &+= number }
                }
                withExtendedLifetime(sum) {}
            }
        }
    }
}
#endif
