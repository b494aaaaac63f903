// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
package import Dispatch
import Synchronization

/// Where delegates are called.
package enum DelegatePlace: Sendable {
    /// A call, which is made on the place.
    package typealias Call = @Sendable () -> Void

    /// On a queue of Dispatch.
    case queue(DispatchQueue)
    /// By a function that may make several calls side by side, such as one that adds them to an `OperationQueue`.
    case calls(@Sendable (@escaping Call) -> Void)

    /// A function that makes one call at a time, in their order.
    func serial(_ label: String) -> @Sendable (@escaping Call) -> Void {
        switch self {
        case .queue(let queue):
            // Of its own, so that calls come one at a time also where the other isn't serial.
            let own = DispatchQueue(label: label, target: queue)
            return { own.async(execute: $0) }
        case .calls(let perform):
            let calls = SerialCalls(perform)
            return { calls.add($0) }
        }
    }
}

/// Makes calls one at a time and in their order, by a function that could make several side by side.
final class SerialCalls: Sendable {
    typealias Call = DelegatePlace.Call

    private struct State {
        /// The calls behind the one that is being made; few, since each waits for its answer or is one of few.
        var waiting: Deque<Call> = []
        var isBusy = false
    }

    private let perform: @Sendable (@escaping Call) -> Void
    private let state = Mutex(State())

    init(_ perform: @escaping @Sendable (@escaping Call) -> Void) {
        self.perform = perform
    }

    func add(_ call: @escaping Call) {
        let isFirst = state.withLock { state in
            if state.isBusy { state.waiting.append(call) }
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { make(call) }
    }

    private func make(_ call: @escaping Call) {
        perform { [self] in
            call()
            let next = state.withLock { state -> Call? in
                let next = state.waiting.popFirst()
                if next == nil { state.isBusy = false }
                return next
            }
            if let next { make(next) }
        }
    }
}
