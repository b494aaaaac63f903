// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import Synchronization

@testable import DuplexSockets

/// Roots of a system that trusts the tests' authority; reading them takes until the test opens the gate.
final class GatedRoots: Sendable {
    let roots: SystemRoots
    /// Has an element for each time that reading begins.
    let reads: AsyncStream<Void>
    private let gate: DispatchSemaphore
    private let counter: Counter

    final class Counter: Sendable {
        let count = Mutex(0)
    }

    /// Makes them, with what reading comes to; by default the roots.
    init(_ result: Result<RootStore, SocketError>? = nil) throws {
        let gate = DispatchSemaphore(value: 0)
        let counter = Counter()
        let (reads, began) = AsyncStream<Void>.makeStream()
        let result = try result ?? .success(Self.store())
        roots = SystemRoots { () throws(SocketError) in
            counter.count.withLock { $0 += 1 }
            began.yield()
            gate.wait()
            return try result.get()
        }
        (self.gate, self.counter, self.reads) = (gate, counter, reads)
    }

    static func store() throws -> RootStore {
        try RootStore.system().adding([X509Reference(der: TestCertificates.authority.certificates[0].der)])
    }

    /// How often reading was begun.
    var count: Int { counter.count.withLock { $0 } }

    /// Lets one read end.
    func open() {
        gate.signal()
    }

    /// The options of a client that trusts these roots.
    var options: TLSOptions {
        var options = TLSOptions()
        options.trust = TLSTrust(system: roots)
        return options
    }
}
