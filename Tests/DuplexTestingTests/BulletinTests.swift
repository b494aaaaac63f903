// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexTesting

@Suite struct BulletinTests {
    @Test("Whoever waits gets what is there, or what comes")
    func waiting() async throws {
        let bulletin = Bulletin(1)
        #expect(try await bulletin.wait { $0 == 1 ? "one" : nil } == "one")
        async let three = bulletin.wait { $0 == 3 ? "three" : nil }
        async let two = bulletin.wait { $0 >= 2 ? "two" : nil }
        bulletin.change { $0 = 2 }
        #expect(try await two == "two")
        bulletin.change { $0 = 3 }
        #expect(try await three == "three")
        #expect(bulletin.value == 3)
    }

    @Test("Each waiter takes what it takes before the next one looks")
    func taking() async throws {
        let bulletin = Bulletin(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    _ = try await bulletin.wait { count -> Bool? in
                        if count == 0 { return nil }
                        count -= 1
                        return true
                    }
                }
            }
            for _ in 0..<4 { bulletin.change { $0 += 5 } }
            try await group.waitForAll()
        }
        #expect(bulletin.value == 0)
    }

    @Test("Cancelling ends a wait")
    func cancelling() async {
        let bulletin = Bulletin(0)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await bulletin.wait { _ -> Int? in
                begin.yield()
                return nil
            }
        }
        for await _ in begun { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
