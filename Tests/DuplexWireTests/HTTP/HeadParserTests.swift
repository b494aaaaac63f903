// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite("Heads of any grammar")
struct HeadParserTests {
    /// A grammar whose first line may be anything, and whose head is how many fields there are.
    enum Counting: HeadGrammar {
        static var skipsEmptyLine: Bool { false }
        static var unfoldsFields: Bool { false }
        static var malformedStartLine: HTTPError.Code { .malformedStatusLine }

        static func overlongStartLine(_ line: [UInt8]) -> HTTPError.Code { .uriTooLong }

        static func startLine(_ line: Span<UInt8>) throws(HTTPError) -> Int { line.count }

        static func head(_ start: Int, _ fields: HTTPFields) throws(HTTPError) -> Int {
            if fields.count > 2 { throw HTTPError(.timeout, "three fields") }
            return start * 100 + fields.count
        }
    }

    @Test("A head is what its grammar makes of the first line and the fields")
    func grammar() {
        let fed = expectSameInEverySplit(wire("\n\nabc\nA: b\n\n\nA: b\nC: d\n\n")) { parse($0) }
        #expect(fed.outputs == [0, 301, 2])
    }

    @Test("An error of the grammar comes with the empty line")
    func grammarErrors() {
        let input = wire("abc\nA:\nB:\nC:\n\n")
        let fed = expectSameInEverySplit(input) { parse($0) }
        #expect(fed.failure?.code == .timeout)
        #expect(fed.taken == input.count)
    }

    @Test("Each head has the whole limit to itself")
    func limits() {
        var limits = HTTPLimits.internet
        limits.headSize = 12
        let fed = expectSameInEverySplit(wire("abc\nA: b\n\nabc\nA: b\n\n")) { parse($0, limits: limits) }
        #expect(fed.outputs.isEmpty)
        limits.headSize = 13
        #expect(
            expectSameInEverySplit(wire("abc\nA: b\n\nabc\nA: b\n\n")) { parse($0, limits: limits) }.outputs == [
                301, 301,
            ]
        )
    }

    private func parse(_ pieces: [[UInt8]], limits: HTTPLimits = .internet) -> Fed<Int, HTTPError> {
        var parser = HeadParser<Counting>(limits: limits)
        return feed(pieces) { (piece, position) throws(HTTPError) in try parser.parse(piece, from: &position) }
    }
}
