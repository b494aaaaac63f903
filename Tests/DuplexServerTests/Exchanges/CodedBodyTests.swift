// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexWire
import Testing

@testable import DuplexServer

@Suite("Bodies that are put into a coding on their way out")
struct CodedBodyTests {
    private static func outgoing(_ length: Int?) throws -> OutgoingCoding {
        let body = CodedBody(.writer(length: length) { _ in }, .gzip, level: 6)
        return try #require(OutgoingCoding(body, pool: ContentPool()))
    }

    @Test("A body is held to the length that was said")
    func lengths() throws {
        let exact = try Self.outgoing(3)
        _ = try exact.coded([1, 2], flushes: true)
        _ = try exact.coded([3], flushes: true)
        #expect(throws: HTTPProtocolError.self) { try exact.coded([4], flushes: true) }
        let short = try Self.outgoing(3)
        _ = try short.coded([1, 2], flushes: true)
        let error = #expect(throws: HTTPProtocolError.self) { try short.end() }
        #expect(error?.code == .wrongLength)
        #expect(try !Self.outgoing(nil).end().isEmpty)
    }

    @Test("Others have their turn behind 256 KiB, and then again")
    func turns() throws {
        let coding = try Self.outgoing(nil)
        let turns = try (0..<8).map { _ in
            _ = try coding.coded([UInt8](repeating: 0, count: 64 * 1_024), flushes: false)
            return coding.hasHadTurn
        }
        #expect(turns == [false, false, false, true, false, false, false, true])
        // Short pieces take longer than their length says.
        let rows = try Self.outgoing(nil)
        let rowsInTurn = try (1...1_000).first { _ in
            _ = try rows.coded([1, 2, 3], flushes: true)
            return rows.hasHadTurn
        }
        #expect((rowsInTurn ?? .max) < 300)
    }

    @Test("What is coded has no length before it is sent, and no bytes at hand")
    func body() {
        let body = ResponseBody(content: .coded(CodedBody("Hello", .gzip, level: 6)))
        #expect(body.count == nil && body.bytes == nil)
    }
}
