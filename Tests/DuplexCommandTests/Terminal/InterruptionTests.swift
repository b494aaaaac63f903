// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexCommand

@Suite("Interrupting")
struct InterruptionTests {
    @Test("The first signal cancels the work, which still returns its result")
    func first() async throws {
        let interruption = Interruption()
        let result = try await interruption.cancelling {
            interruption.signalArrived { Issue.record("The process would have ended with \($0).") }
            let (never, _) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            return Task.isCancelled
        }
        #expect(result)
    }

    @Test("The second signal ends the process with 130")
    func second() {
        let interruption = Interruption()
        let status = Mutex<[Int32]>([])
        for _ in 1...2 { interruption.signalArrived { code in status.withLock { $0.append(code) } } }
        #expect(status.withLock(\.self) == [130])
    }

    @Test("A signal that comes before the work cancels it too")
    func early() async throws {
        let interruption = Interruption()
        interruption.signalArrived { Issue.record("The process would have ended with \($0).") }
        await #expect(throws: CancellationError.self) {
            try await interruption.cancelling {
                let (never, _) = AsyncStream<Never>.makeStream()
                for await _ in never {}
                try Task.checkCancellation()
            }
        }
    }

    @Test("Output that is lost cancels the work, and the first signal after it doesn't end the process")
    func lostOutput() async throws {
        let interruption = Interruption()
        interruption.outputWasLost()
        interruption.signalArrived { Issue.record("The process would have ended with \($0).") }
        #expect(try await interruption.cancelling { Task.isCancelled })
        let running = Interruption()
        let result = try await running.cancelling {
            running.outputWasLost()
            return Task.isCancelled
        }
        #expect(result)
    }

    @Test("Work that isn't interrupted is left alone, and what it throws is passed on")
    func none() async throws {
        let interruption = Interruption()
        #expect(try await interruption.cancelling { Task.isCancelled } == false)
        await #expect(throws: Failure(.failure, "x")) {
            try await interruption.cancelling { throw Failure(.failure, "x") }
        }
    }
}
