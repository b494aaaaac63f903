// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Something that viewers watch: numbered items of which the last are kept, or a state that is looked at time and again.
///
/// Viewers poll; nothing is pushed. So watching costs the watched nothing, and a slow viewer delays nobody: it polls
/// later, and gets the number of items that it has missed.
protocol LiveTopic<Item>: Sendable {
    /// An item as a viewer gets it.
    associatedtype Item: Encodable & Sendable

    /// How long a viewer waits between two looks.
    var interval: Duration { get }

    /// What a viewer hasn't had yet.
    ///
    /// - Parameters:
    ///   - position: up to where it has had everything; 0 for a new viewer.
    ///   - limit: how many bytes of JSON it should be at most, about; one item always goes.
    /// - Returns: what is new; `nil` where nothing is.
    /// - Throws: `LiveRefusal` where nothing more comes.
    func news(since position: UInt64, upTo limit: Int) async throws -> LiveNews<Item>?
}

extension LiveTopic {
    var interval: Duration { .milliseconds(100) }
}

/// What a viewer is sent at once.
struct LiveNews<Item: Sendable>: Sendable {
    /// In their order; a state is one item.
    var items: [Item]
    /// Up to where the viewer has had everything then.
    var position: UInt64
    /// How many items were gone before it asked.
    var lost: UInt64 = 0
    /// Whether there is more, for which the viewer needn't wait.
    var hasMore = false
}

/// A state that is looked at time and again, and sent where it has changed.
struct LiveState<State: Encodable & Hashable & Sendable>: LiveTopic {
    let interval: Duration
    private let look: @Sendable () async throws -> State

    /// - Parameters:
    ///   - interval: how often it is looked at while somebody watches. Default: every second.
    ///   - look: gives the state.
    init(every interval: Duration = .seconds(1), _ look: @escaping @Sendable () async throws -> State) {
        self.interval = interval
        self.look = look
    }

    func news(since position: UInt64, upTo limit: Int) async throws -> LiveNews<State>? {
        let state = try await look()
        // What a viewer has had is known by its hash, which holds for this process, as the viewer's connection does.
        var hasher = Hasher()
        hasher.combine(state)
        let number = UInt64(bitPattern: Int64(hasher.finalize())) | 1
        return number == position ? nil : LiveNews(items: [state], position: number)
    }
}
