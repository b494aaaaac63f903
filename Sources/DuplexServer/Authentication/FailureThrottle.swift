// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Synchronization

/// Counts who fails to show who they are, by their addresses, and turns them away for a while.
final class FailureThrottle: Sendable {
    private let table: Mutex<FailureTable>

    init(limit: Int, window: Duration) {
        table = Mutex(FailureTable(limit: limit, window: window))
    }

    /// How many networks are counted.
    var networkCount: Int { table.withLock { $0.networkCount } }

    /// Lets a request with credentials in, to be judged.
    ///
    /// - Parameter request: the request.
    /// - Returns: what gets the result.
    /// - Throws: ``Problem`` with 429 if there were too many failures before.
    func enter(_ request: Request) throws -> FailureAttempt {
        let network = request.remoteAddress?.network ?? []
        let client = request.client
        if let wait = table.withLock({ $0.enter(network, at: client.now) }) {
            let sentence = "There were too many attempts with wrong credentials."
            throw Problem(.tooManyRequests, sentence, fields: [.retryAfter: RetryAfter.value(wait)])
        }
        return FailureAttempt { [self] hasFailed in
            table.withLock { $0.leave(network, hasFailed: hasFailed, at: client.now) }
        }
    }
}

/// One request's credentials while they are being judged; ends once, with the last reference if not before.
final class FailureAttempt: Sendable {
    private let isOver = Atomic(false)
    private let leave: @Sendable (_ hasFailed: Bool) -> Void

    init(_ leave: @escaping @Sendable (_ hasFailed: Bool) -> Void) {
        self.leave = leave
    }

    /// Notes how it has ended, unless that is known.
    func end(hasFailed: Bool = false) {
        if !isOver.exchange(true, ordering: .relaxed) { leave(hasFailed) }
    }

    deinit {
        end()
    }
}

/// Gets the result of checking a request's credentials.
enum FailureAttempts: RequestKey {
    typealias Value = [FailureAttempt]
}
