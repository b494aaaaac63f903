// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire

/// The subscription of a handler's event stream, for as long as the handler waits.
final class EventSubscription: Sendable {
    private final class State {
        var subscriber: EventSubscriber?
        var continuation: CheckedContinuation<Void, any Error>?
        var isOver = false
    }

    private let core: TopicCore
    private let name: String
    private let replay: TopicReplay
    private let outlet: EventOutlet
    private let state: LoopBound<State>

    init(_ core: TopicCore, _ name: String, _ replay: TopicReplay, _ outlet: EventOutlet) {
        self.core = core
        self.name = name
        self.replay = replay
        self.outlet = outlet
        state = LoopBound(State(), on: outlet.loop.thread)
    }

    /// Begins, on the loop.
    func begin(_ continuation: CheckedContinuation<Void, any Error>) {
        let state = state.value
        guard !state.isOver else { return continuation.resume() }
        let subscriber = EventSubscriber(core, outlet) { error in self.end(error) }
        guard outlet.onLoop(outlet.loop, subscriber, { $0.attach($1) }) else {
            let error = TopicError(.closed, "The stream has ended, or has a subscription.")
            return continuation.resume(throwing: error)
        }
        do {
            let later = { [weak subscriber] (start: TopicTable.Start) -> Void in subscriber?.tellPlace(start) }
            let start = try subscriber.join(name, replay, on: outlet.loop, later: later)
            if !start.isPending { subscriber.tellPlace(start) }
        } catch {
            outlet.onLoop(outlet.loop) { outlet, _ in outlet.detach() }
            return continuation.resume(throwing: error)
        }
        (state.subscriber, state.continuation) = (subscriber, continuation)
        subscriber.replay()
    }

    /// Ends it, on the loop; twice is the same as once.
    func end(_ error: TopicError? = nil) {
        let state = state.value
        state.isOver = true
        guard let subscriber = state.subscriber.take() else { return }
        subscriber.leave()
        outlet.onLoop(outlet.loop) { outlet, _ in outlet.detach() }
        let continuation = state.continuation.take()
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
    }
}
