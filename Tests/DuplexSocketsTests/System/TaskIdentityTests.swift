// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct TaskIdentityTests {
    @Test("A task knows itself, before and after it has waited")
    func itself() async {
        let identity = TaskIdentity.current
        #expect(identity.isCurrent)
        await Task.yield()
        #expect(identity.isCurrent)
    }

    @Test("A task doesn't take another for itself")
    func another() async {
        let keeper = Keeper()
        await keeper.noteCaller()
        async let isKnown = keeper.isKnown
        #expect(await !isKnown)
        #expect(await keeper.isKnown)
    }

    @Test("Outside of tasks there is none")
    func none() async throws {
        let loop = try EventLoop()
        let (answers, answer) = AsyncStream<Bool>.makeStream()
        loop.execute { _ in answer.yield(!TaskIdentity.current.isCurrent && !TaskIdentity.none.isCurrent) }
        for await isNone in answers {
            #expect(isNone)
            break
        }
        await loop.stop()
    }

    @Test("A task knows whether it has been cancelled, and outside of tasks nothing has")
    func cancelling() async throws {
        let answers = await Task {
            let before = TaskIdentity.isCurrentCancelled
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return [before, TaskIdentity.isCurrentCancelled]
        }.value
        #expect(answers == [false, true])
        try await withLoop { loop in
            let isCancelled = try await loop.run { _ in TaskIdentity.isCurrentCancelled }
            #expect(!isCancelled)
        }
    }
}

/// Knows one of the tasks that call it.
private actor Keeper {
    private var known = TaskIdentity.none

    func noteCaller() {
        known = .current
    }

    var isKnown: Bool { known.isCurrent }
}
