// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

extension EventLoop {
    /// Makes something on the loop, and hands it over to a caller elsewhere.
    ///
    /// Under a lock rather than by the continuation alone: what is made has constants that the caller reads without a hop, and
    /// sanitizers, which don't see into the runtime, know the order by the lock.
    ///
    /// - Parameter body: called once, on the loop.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw.
    package func make<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (LoopCore) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let box = HandOver<Result<Value, Failure>>()
        await withCheckedContinuation { continuation in
            execute { core in
                do throws(Failure) {
                    box.put(.success(try body(core)))
                } catch {
                    box.put(.failure(error))
                }
                continuation.resume()
            }
        }
        return try box.take().get()
    }
}

/// A place in which one thread leaves something for another.
private final class HandOver<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func put(_ value: Value) {
        self.value.withLock { $0 = value }
    }

    func take() -> Value {
        guard let value = value.withLock({ $0.take() }) else {
            preconditionFailure("Nothing was left for the one who waits.")
        }
        return value
    }
}
