// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Testing

/// The test suite for WebDAV servers of the neon library (Debian: litmus).
@Suite(.timeLimit(minutes: 3)) struct LitmusTests {
    @Test("All of basic, copymove, props, locks and http pass without a warning")
    func passes() async throws {
        try await DAVShare.run { share async throws in
            let output = try await share.shell(
                "TESTS='basic copymove props locks http' litmus -k \(share.url) 2>&1 || true"
            )
            let summaries = output.split(separator: "\n").filter { $0.contains("summary for `") }
            #expect(summaries.count == 5, "\(output)")
            for summary in summaries {
                // Such as: <- summary for `basic': of 16 tests run: 16 passed, 0 failed. 100.0%
                let numbers = summary.split { !$0.isNumber }.compactMap { Int($0) }
                try #require(numbers.count >= 3, "\(summary)")
                #expect(numbers[0] > 3 && numbers[1] == numbers[0] && numbers[2] == 0, "\(output)")
            }
            #expect(!output.contains("WARNING") && !output.contains("warning") && !output.contains("FAIL"), "\(output)")
            #expect(!output.contains("SKIPPED"), "\(output)")
        }
    }
}
