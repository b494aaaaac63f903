// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import Synchronization

/// What has come for one task, in bounds: beyond them the oldest are dropped, and counted.
final class ClientFeed<Element: Sendable>: Sendable {
    private struct State {
        var items: Deque<(element: Element, size: Int)> = []
        var size = 0
        var dropped = 0
        var isOver = false
        var error: TopicError?
        var reader: CheckedContinuation<Void, Never>?
    }

    private let mostItems: Int
    private let mostBytes: Int
    private let state = Mutex(State())

    init(mostItems: Int, mostBytes: Int) {
        self.mostItems = max(1, mostItems)
        self.mostBytes = mostBytes
    }

    /// Puts something in.
    func put(_ element: Element, size: Int) {
        let reader = state.withLock { state in
            guard !state.isOver else { return CheckedContinuation<Void, Never>?.none }
            state.items.append((element, size))
            state.size += size
            while state.items.count > 1, state.items.count > mostItems || state.size > mostBytes {
                state.size -= state.items.removeFirst().size
                state.dropped += 1
            }
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Ends it, behind what waits; the first end holds.
    func finish(_ error: TopicError? = nil) {
        let reader = state.withLock { state in
            if !state.isOver { state.error = error }
            state.isOver = true
            return state.reader.take()
        }
        reader?.resume()
    }

    /// The next one, and how many were dropped in front of it; `nil` behind the end, and once the task is cancelled.
    func next() async throws(TopicError) -> (element: Element, dropped: Int)? {
        while true {
            if Task.isCancelled { return nil }
            let (item, isOver, error) = state.withLock { state -> ((Element, Int)?, Bool, TopicError?) in
                guard let item = state.items.popFirst() else { return (nil, state.isOver, state.error) }
                state.size -= item.size
                defer { state.dropped = 0 }
                return ((item.element, state.dropped), false, nil)
            }
            if let item { return item }
            if let error { throw error }
            if isOver { return nil }
            await wait()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if !state.items.isEmpty || state.isOver { return true }
                    state.reader = continuation
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            finish()
        }
    }
}

/// What a client fills for one task, for as long as somebody holds this: then it is asked to end it.
final class ClientLease<Element: Sendable>: Sendable {
    /// What happens with the client, on its loop.
    typealias Step = @Sendable (isolated TopicClient, ClientFeed<Element>) -> Void

    let feed: ClientFeed<Element>
    private let client: TopicClient
    private let end: Step

    init(_ client: TopicClient, _ feed: ClientFeed<Element>, begin: @escaping Step, end: @escaping Step) {
        self.client = client
        self.feed = feed
        self.end = end
        client.later { begin($0, feed) }
    }

    deinit {
        feed.finish()
        client.later { [feed, end] in end($0, feed) }
    }
}
