// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ReceiveBufferTests {
    /// What each receive of a read gave, with its bytes.
    private func receive(_ text: String, limits: [Int]) async throws -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        try await withPair { near, far in
            try await near.write(text)
            // Waits until all of it is there: a socket reads what there is.
            for limit in limits { pieces.append(try await far.read(upTo: limit) ?? []) }
        }
        return pieces
    }

    @Test("A receive takes no more than it is allowed to, and the next one goes on behind it")
    func limited() async throws {
        let pieces = try await receive("abcdef", limits: [2, 3, 10])
        #expect(pieces == [Array("ab".utf8), Array("cde".utf8), Array("f".utf8)])
    }

    @Test("A descriptor that isn't open fails with the system's number")
    func closedDescriptor() {
        let result = ReceiveBuffer().receive(from: -1) { _ in Issue.record("there are no bytes") }
        guard case .failed(let code) = result else {
            Issue.record("it gave \(result)")
            return
        }
        #expect(code != 0)
    }

    @Test("The whole of it is lent")
    func lend() {
        #expect(unsafe ReceiveBuffer().lend { $0.count } == ReceiveBuffer.size)
    }
}
