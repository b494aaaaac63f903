// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct FormerAnswersTests {
    private let now = Instant.now()

    private func entry(_ literal: String, seconds: Int = 60, use: UInt64 = 0) throws -> CachingResolver.Entry {
        let resolution = try Resolution(literals: [literal])
        let end = now.advanced(by: .seconds(seconds))
        return CachingResolver.Entry(outcome: .success(resolution), expiry: end, end: end, lastUse: use)
    }

    @Test("Addresses are kept until their end, and newer ones take the place of older ones")
    func taking() throws {
        var former = FormerAnswers()
        var unknown = try entry("192.0.2.9")
        unknown.outcome = .failure(SocketError(.unknownHost, message: ""))
        former.take(
            ["a": try entry("192.0.2.1"), "b": try entry("192.0.2.2", seconds: 1), "c": unknown],
            capacity: 9,
            now
        )
        #expect(former.count == 2)
        let answer = try #require(former.answer(to: "a", now))
        #expect(answer.addresses.map(\.host) == ["192.0.2.1"] && answer.timeToLive == .zero)
        #expect(former.answer(to: "c", now) == nil)
        let later = now.advanced(by: .seconds(1))
        #expect(former.answer(to: "b", later) == nil)
        former.take(["a": try entry("192.0.2.3")], capacity: 9, later)
        #expect(former.count == 1)
        #expect(former.answer(to: "a", later)?.addresses.map(\.host) == ["192.0.2.3"])
        former["a"] = nil
        #expect(former.count == 0)
    }

    @Test("Beyond the capacity those go that were wanted least recently")
    func capacity() throws {
        var former = FormerAnswers()
        let entries = try (0..<5).map { ("\($0)", try entry("192.0.2.1", use: UInt64($0))) }
        former.take(Dictionary(uniqueKeysWithValues: entries), capacity: 2, now)
        #expect(former["3"] != nil && former["4"] != nil && former.count == 2)
        former.take([:], capacity: 0, now)
        #expect(former.count == 0)
    }

    @Test("They mend a failure, but neither an answer nor that the host is unknown")
    func mending() throws {
        var former = FormerAnswers()
        former.take(["a": try entry("192.0.2.1")], capacity: 1, now)
        let failed = former.mended(.failure(SocketError(.timedOut, message: "")), of: "a", now)
        #expect(try failed.get().addresses.map(\.host) == ["192.0.2.1"])
        for error in [SocketError(.unknownHost, message: ""), CancellationError()] as [any Error] {
            let kept = former.mended(.failure(error), of: "a", now)
            #expect(throws: (any Error).self) { try kept.get() }
        }
        let fresh = try Resolution(literals: ["192.0.2.5"])
        #expect(try former.mended(.success(fresh), of: "a", now).get() == fresh)
        let other = former.mended(.failure(SocketError(.timedOut, message: "")), of: "b", now)
        #expect(throws: SocketError.self) { try other.get() }
    }
}
