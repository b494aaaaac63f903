// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// Finds a master by the sentinels that watch it, and follows it when they choose another.
///
/// One sentinel is asked at a time, over a link of its own: when it is lost, doesn't know the master, or names one that can't be
/// connected to, the next has its turn.
final class RedisSentinels: Sendable {
    private let master: RedisURL
    private let count: Int
    private let link: RedisLink
    private let follower = Mutex(Follower())

    private struct Follower {
        weak var link: RedisLink?
    }

    /// The channel on which sentinels announce new masters.
    private static let switching = RedisChannel(.plain, "+switch-master")

    /// - Parameters:
    ///   - master: its host is the master's name.
    ///   - urls: the sentinels, one at least.
    ///   - options: as of the link to the master.
    ///   - loop: the loop of all links.
    init(of master: RedisURL, at urls: [RedisURL], options: RedisOptions, loop: EventLoop) {
        self.master = master
        count = urls.count
        var options = options
        options.whenDisconnected = .wait(commands: 64, bytes: .kibibytes(64), time: options.connectOptions.timeout)
        let turn = Turn()
        link = RedisLink(options: options, loop: loop) { _ in urls[turn.next() % urls.count] }
    }

    /// Counts the attempts, each of which goes to the next sentinel.
    private final class Turn: Sendable {
        private let last = Atomic<Int>(-1)

        func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue & .max }
    }

    /// Makes the link to the master, which starts and closes this.
    func makeLink(options: RedisOptions) -> RedisLink {
        let made = RedisLink(options: options, loop: link.loop, needsMaster: true, sentinels: self) { [self] in
            try await locate(after: $0)
        }
        follower.withLock { $0.link = made }
        return made
    }

    /// Begins to watch.
    func start() async {
        await link.start()
        await watch()
    }

    /// Ends it.
    func close() async {
        await link.close()
    }

    // MARK: Asking

    /// Asks the sentinels in turn.
    ///
    /// - Parameter error: how the last attempt has ended; the next sentinel is asked then.
    /// - Returns: where the master is.
    /// - Throws: ``RedisError`` when nobody knows; `CancellationError`.
    private func locate(after error: RedisError?) async throws -> RedisURL {
        if let error, count > 1, error.code != .unavailable { await askNext(because: error.message) }
        var refusal = RedisError(.cannotConnect, "No sentinel knows a master named “\(master.host)”.")
        for _ in 0..<count {
            do {
                let answer = try await link.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .text(master.host))
                if let found = url(answer.elements?.map(\.text)) { return found }
            } catch let error as RedisError where error.code != .unavailable && error.code != .closed {
                refusal = error
            }
            if count > 1 { await askNext(because: "The sentinel doesn't know the master.") }
        }
        throw refusal
    }

    private func askNext(because message: String) async {
        await link.reconnect(because: message)
    }

    private func url(_ words: [String?]?) -> RedisURL? {
        guard let words, words.count == 2, let host = words[0], let port = words[1].flatMap({ Int($0) }),
            (1...65_535).contains(port)
        else { return nil }
        return RedisURL(master, at: host, port: port)
    }

    // MARK: Following

    private func watch() async {
        _ = await link.subscribe(to: Self.switching) { [weak self] event in
            guard let self else { return }
            switch event {
            case .message(let bytes): switched(String(decoding: bytes, as: UTF8.self))
            // What was switched before, or while nobody listened, is found out by asking.
            case .active: Task { await self.compare() }
            case .matched, .interrupted, .refused: break
            }
        }
    }

    /// A sentinel announces a new master: its name, the former address, the present one.
    ///
    /// Called on the loop.
    private func switched(_ text: String) {
        let words = text.split(separator: " ").map { String($0) }
        guard words.count == 5, words[0] == master.host, let url = url([words[3], words[4]]) else { return }
        guard let link = follower.withLock({ $0.link }) else { return }
        link.onLoop(link.loop, url) { $0.follow($1) }
    }

    private func compare() async {
        guard let link = follower.withLock({ $0.link }), await link.connection != nil,
            let url = try? await locate(after: nil)
        else { return }
        await link.follow(url)
    }
}

extension RedisLink {
    /// There is a master at that place: a connection to another one is given up.
    fileprivate func follow(_ url: RedisURL) {
        if let connection, connection.url == url { return }
        reconnect(because: "The sentinels have chosen \(url) as the master.")
    }
}
