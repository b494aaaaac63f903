// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@Suite("Reporting the splits that differ")
struct SplitReportTests {
    typealias Outcome = SplitReport<Int>.Outcome

    struct Refusal: Error {
        let position: Int
    }

    @Test("Outcomes are the same when the results are equal or the errors print the same")
    func outcomes() {
        #expect(Outcome.returned(1) == .returned(1))
        #expect(Outcome.returned(1) != .returned(2))
        #expect(Outcome.threw(Refusal(position: 1)) == .threw(Refusal(position: 1)))
        #expect(Outcome.threw(Refusal(position: 1)) != .threw(Refusal(position: 2)))
        #expect(Outcome.threw(Refusal(position: 1)) != .returned(1))
    }

    @Test("At most ten differences are written out")
    func manyDifferences() {
        let report = SplitVerifier(randomSplits: 0).report(on: [UInt8](repeating: 0, count: 20)) { $0.map(\.count) }
        #expect(report.differences.count == 22)
        #expect(report.description.hasSuffix("and 12 more"))
    }
}
