// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexWire
import Synchronization
import Testing

@testable import DuplexServer
@testable import DuplexSharing

@Suite("One request works on an upload", .timeLimit(minutes: 1))
struct UploadLeasesTests {
    private static let never: @Sendable (Duration) async throws -> Void = { _ in
        // Until it is cancelled.
        for await _ in AsyncStream<Void>.makeStream().stream {}
        throw CancellationError()
    }

    private static func status(_ body: () async throws -> Void) async throws -> Int? {
        do { try await body() } catch let refusal as UploadRefusal { return refusal.status.code }
        return nil
    }

    @Test("The later one ends the one before, and waits for what that still does")
    func takesOver() async throws {
        let leases = UploadLeases()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let log = Mutex<[String]>([])
        async let first = Self.status {
            try await leases.hold("a", sleep: Self.never) {
                begin.finish()
                for await _ in AsyncStream<Void>.makeStream().stream {}
                log.withLock { $0.append("first ends") }
                try Task.checkCancellation()
            }
        }
        for await _ in begun {}
        try await leases.hold("a", sleep: Self.never) { log.withLock { $0.append("second works") } }
        #expect(try await first == 409)
        #expect(log.withLock { $0 } == ["first ends", "second works"])
        // Nobody is left behind.
        try await leases.hold("a", sleep: Self.never) {}
    }

    @Test("One that doesn't end leaves the later one without the upload: 423")
    func patience() async throws {
        let leases = UploadLeases()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        async let first: Void = leases.hold("a", sleep: Self.never) {
            begin.finish()
            // Something that can't be cancelled, such as a disk.
            await Task.detached { for await _ in ended {} }.value
        }
        for await _ in begun {}
        let second = try await Self.status {
            try await leases.hold("a", sleep: { #expect($0 == .seconds(10)) }) {}
        }
        #expect(second == 423)
        try await leases.hold("b", sleep: Self.never) {}
        end.finish()
        try await first
    }

    @Test("What was done although another one came is done")
    func doneInTime() async throws {
        let leases = UploadLeases()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        async let first = leases.hold("a", sleep: Self.never) {
            begin.finish()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            return "done"
        }
        for await _ in begun {}
        try await leases.hold("a", sleep: Self.never) {}
        #expect(try await first == "done")
    }
}
