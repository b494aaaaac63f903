// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import Synchronization

/// Calls a delegate, if there is one, on the queue where it may be called, one call at a time.
final class DelegateQueue<Delegate>: Sendable {
    /// The delegate of the moment, kept weakly.
    ///
    /// Unchecked, because a delegate of the main actor isn't Sendable: it is called on the main queue alone, and handed out
    /// to the main actor alone; any other is Sendable.
    private struct Told: @unchecked Sendable {
        var isMain = false
        var delegate: () -> Delegate? = { nil }
    }

    private let perform: @Sendable (@escaping DelegatePlace.Call) -> Void
    private let told = Mutex(Told())

    /// - Parameters:
    ///   - place: where a delegate is called that doesn't belong to the main actor; a concurrent queue is as good.
    ///   - label: what the queue is named that is made on top of it.
    init(_ place: DelegatePlace, label: String) {
        perform = place.serial(label)
    }

    /// Replaces the delegate by one that may be called on any queue.
    ///
    /// - Parameter delegate: gives it, and keeps it weakly.
    func tell(_ delegate: @escaping @Sendable () -> Delegate?) {
        let new = Told(isMain: false, delegate: delegate)
        told.withLock { $0 = new }
    }

    /// Replaces the delegate by one of the main actor.
    @MainActor
    func tellOnMain(_ delegate: @escaping () -> Delegate?) {
        let new = Told(isMain: true, delegate: delegate)
        told.withLock { $0 = new }
    }

    /// The delegate, whichever kind it is of.
    @MainActor var delegate: Delegate? { told.withLock { $0 }.delegate() }

    /// Whether there is one.
    var hasDelegate: Bool { told.withLock { $0 }.delegate() != nil }

    /// Calls the delegate on its queue, and waits until it has returned.
    ///
    /// - Parameters:
    ///   - isWanted: whether there is still something to report; asked on the queue.
    ///   - body: the call; left out when there is no delegate.
    func call(
        if isWanted: @escaping @Sendable () -> Bool = { true },
        _ body: @escaping @Sendable (Delegate) -> Void
    ) async {
        await withCheckedContinuation { continuation in enqueue(isWanted, body) { continuation.resume() } }
    }

    /// Has the delegate called on its queue, behind the calls before, and doesn't wait for it; for what is few in number,
    /// since nothing slows down who asks for it.
    ///
    /// - Parameters:
    ///   - isWanted: whether there is still something to report; asked on the queue.
    ///   - body: the call; left out when there is no delegate.
    func post(
        if isWanted: @escaping @Sendable () -> Bool = { true },
        _ body: @escaping @Sendable (Delegate) -> Void
    ) {
        enqueue(isWanted, body) {}
    }

    private func enqueue(
        _ isWanted: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable (Delegate) -> Void,
        _ done: @escaping @Sendable () -> Void
    ) {
        let isMain = told.withLock { $0.isMain }
        let call: DelegatePlace.Call = {
            let told = self.told.withLock { $0 }
            // Another one was set meanwhile, which is called elsewhere.
            guard told.isMain == isMain else { return self.enqueue(isWanted, body, done) }
            if isWanted(), let delegate = told.delegate() { body(delegate) }
            done()
        }
        if isMain { DispatchQueue.main.async(execute: call) } else { perform(call) }
    }
}
