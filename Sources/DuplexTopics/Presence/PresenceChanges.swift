// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Joins and leaves of a topic; see ``TopicPresence/changes``.
public struct PresenceChanges: AsyncSequence, Sendable {
    private let hub: PresenceHub
    private let topic: String

    init(_ hub: PresenceHub, _ topic: String) {
        self.hub = hub
        self.topic = topic
    }

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator {
        Iterator(PresenceWatch(hub, topic))
    }

    /// Iterates over the changes; stops watching when it is dropped, or its task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        private let watch: PresenceWatch

        init(_ watch: PresenceWatch) {
            self.watch = watch
        }

        /// The next change; `nil` once the task is cancelled.
        ///
        /// - Throws: ``TopicError`` with `invalidName`, `invalidArgument` or `limitReached` at the first one; with
        ///   `slowSubscriber` once more than 1,000 waited, after those. Ask for the members anew then.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TopicError) -> PresenceChange? {
            try await watch.next()
        }
    }
}

/// Watching a topic for as long as somebody holds it.
final class PresenceWatch: Sendable {
    private let hub: PresenceHub
    private let topic: String
    private let watcher = PresenceWatcher()
    private let begun: Result<Void, TopicError>

    init(_ hub: PresenceHub, _ topic: String) {
        self.hub = hub
        self.topic = topic
        let watcher = watcher
        begun = Result { () throws(TopicError) in try hub.watch(watcher, topic) }
    }

    deinit {
        end()
    }

    func next() async throws(TopicError) -> PresenceChange? {
        try begun.get()
        while true {
            switch watcher.next() {
            case .notice(let notice): return notice.change
            case .none: await watcher.wait()
            case .over:
                end()
                return nil
            case .behind:
                end()
                throw TopicError(.slowSubscriber, "More came and went than was taken.")
            }
        }
    }

    private func end() {
        watcher.finish()
        hub.unwatch(watcher, topic)
    }
}
