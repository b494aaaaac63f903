// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Synchronization

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

/// The topics that viewers may watch, by name.
struct LiveTopics: Sendable {
    /// Makes the topic that a viewer wants out of what it says.
    typealias Making = @Sendable (_ parameters: [String: String]) async throws -> any LiveTopic

    private(set) var all: [String: Making] = [:]

    /// - Parameters:
    ///   - name: what viewers call it.
    ///   - make: makes it out of a viewer's parameters; throws `LiveRefusal` for what can't be watched.
    mutating func add(_ name: String, _ make: @escaping Making) {
        precondition(all[name] == nil, "There are two topics of the name \(name).")
        all[name] = make
    }
}

/// Why a topic can't be watched.
struct LiveRefusal: Error {
    let detail: String

    init(_ detail: String) {
        self.detail = detail
    }
}

/// One viewer's connection: what it watches, each by a task of its own.
///
/// The page says `{"watch": 3, "topic": "console", "since": 17, "parameters": {…}}` and `{"unwatch": 3}`, and is sent
/// `{"watch": 3, "items": […], "position": 20, "lost": 0}`, or `{"watch": 3, "error": "…"}` once nothing more comes. The
/// number is the page's own. A viewer that takes nothing is waited for, by nobody but its own tasks.
struct LiveViewer {
    /// How many topics a viewer may watch at a time.
    static let topicLimit = 32
    /// About how many bytes go in one message.
    static let batchSize = 256 * 1_024

    private struct Wish: Decodable {
        var watch: Int?
        var topic: String?
        var since: UInt64?
        var parameters: [String: String]?
        var unwatch: Int?
    }

    /// How many pages may watch at a time.
    static let viewerLimit = 64

    let topics: LiveTopics
    let count = ViewerCount()

    /// The connections of viewers of all inspectors of the process.
    private static let sockets = Mutex<Set<ConnectionID>>([])

    /// Whether a connection is a viewer's: if watched, it would report itself, or what another inspector shows.
    static func isViewer(_ id: ConnectionID) -> Bool { sockets.withLock { $0.contains(id) } }

    /// Serves a viewer until its connection ends.
    func serve(_ socket: isolated WebSocket) async throws {
        let id = socket.id
        Self.sockets.withLock { _ = $0.insert(id) }
        defer { Self.sockets.withLock { _ = $0.remove(id) } }
        guard count.enter(upTo: Self.viewerLimit) else {
            await socket.close(code: .tryAgainLater, reason: "Too many pages watch.")
            return
        }
        defer { count.leave() }
        var tasks: [Int: Task<Void, Never>] = [:]
        defer { for task in tasks.values { task.cancel() } }
        for try await message in socket.messages {
            guard case .text(let text) = message,
                let wish = try? CompactJSON.value(Wish.self, of: text)
            else {
                await socket.close(code: .unsupportedData, reason: "That is no wish to watch anything.")
                return
            }
            if let number = wish.unwatch { tasks.removeValue(forKey: number)?.cancel() }
            guard let number = wish.watch else { continue }
            tasks.removeValue(forKey: number)?.cancel()
            do {
                if tasks.count >= Self.topicLimit { throw LiveRefusal("Too much is watched at a time.") }
                guard let make = topics.all[wish.topic ?? ""] else { throw LiveRefusal("There is no such topic.") }
                let topic = try await make(wish.parameters ?? [:])
                tasks[number] = Task { await Self.show(topic, number, since: wish.since ?? 0, to: socket) }
            } catch {
                try await Self.send(error, number, to: socket)
            }
        }
    }

    /// Sends what is new of a topic, time and again, until the viewer no longer wants it.
    private static func show(
        _ topic: some LiveTopic,
        _ number: Int,
        since: UInt64,
        to socket: isolated WebSocket
    ) async {
        var position = since
        do {
            while !Task.isCancelled {
                if let news = try await topic.news(since: position, upTo: batchSize) {
                    position = news.position
                    try await send(news, number, to: socket)
                    if news.hasMore { continue }
                }
                try await Task.sleep(for: topic.interval)
            }
        } catch {
            if !Task.isCancelled { try? await send(error, number, to: socket) }
        }
    }

    private static func send(
        _ news: LiveNews<some Encodable & Sendable>,
        _ number: Int,
        to socket: WebSocket
    ) async throws {
        let message = LiveMessage(
            watch: number,
            items: news.items,
            position: Int(clamping: news.position),
            lost: Int(clamping: news.lost)
        )
        try await socket.send(CompactJSON.text(of: message))
    }

    private static func send(_ error: any Error, _ number: Int, to socket: WebSocket) async throws {
        let message = LiveMessage<Never>(watch: number, error: (error as? LiveRefusal)?.detail ?? "\(error)")
        try await socket.send(CompactJSON.text(of: message))
    }
}

/// What a viewer is sent of one of the topics that it watches: items, or why nothing more comes.
struct LiveMessage<Item> {
    /// The page's number of the topic.
    var watch: Int
    var items: [Item]?
    var position: Int?
    var lost: Int?
    var error: String?
}

extension LiveMessage: Encodable where Item: Encodable {}
extension LiveMessage: Decodable where Item: Decodable {}

/// How many viewers there are.
final class ViewerCount: Sendable {
    private let count = Atomic<Int>(0)

    /// One more, unless there are that many.
    func enter(upTo limit: Int) -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
