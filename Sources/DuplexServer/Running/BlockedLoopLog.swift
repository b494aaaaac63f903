// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import Logging
import Synchronization

/// Which routes have blocked a loop, and when the log has last said so: one line a minute for each at most, however many
/// requests a client sends.
struct BlockedRoutes {
    /// What the log is to say.
    struct Line: Equatable {
        var route: String?
        /// How often it was since the last line, this time with it.
        var times: Int
        /// The longest of them.
        var longest: Duration
    }

    static let interval = Duration.seconds(60)

    private var entries: [String?: Entry] = [:]

    private struct Entry {
        var told: Instant
        var times = 0
        var longest = Duration.zero
    }

    /// Counts a time.
    ///
    /// - Parameters:
    ///   - route: whose handler it was; `nil` for none of the server's.
    ///   - duration: how long it took.
    ///   - now: the time.
    /// - Returns: what is to be logged; `nil` for nothing yet.
    mutating func count(_ route: String?, _ duration: Duration, now: Instant) -> Line? {
        guard var entry = entries[route] else {
            entries[route] = Entry(told: now)
            return Line(route: route, times: 1, longest: duration)
        }
        entry.times += 1
        entry.longest = max(entry.longest, duration)
        let isDue = entry.told.duration(to: now) >= Self.interval
        entries[route] = isDue ? Entry(told: now) : entry
        return isDue ? Line(route: route, times: entry.times, longest: entry.longest) : nil
    }
}

/// Warns of handlers that block their loops; all loops of a server share one.
final class BlockedLoopLog: Sendable {
    private let routes = Mutex(BlockedRoutes())
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    func count(_ route: String?, _ duration: Duration) {
        guard let line = routes.withLock({ $0.count(route, duration, now: .now()) }) else { return }
        var metadata: Logger.Metadata = ["took": "\(line.longest.rounded)"]
        if line.times > 1 { metadata["times"] = "\(line.times)" }
        if let route = line.route {
            metadata["route"] = "\(route)"
            logger.warning("a handler has blocked its loop", metadata: metadata)
        } else {
            logger.warning("a task that is no handler has blocked a loop", metadata: metadata)
        }
    }
}

// MARK: Whose handler it was, found out only once it has blocked the loop

extension ServerLoop: StepObserver {
    /// Makes the loop report long steps, where the app wants that.
    func observeSteps() {
        guard let threshold = server.blockedLoopThreshold else { return }
        loop.core.observeSteps(self, threshold: threshold)
    }

    func claims(_ step: LoopStep, lasting duration: Duration) -> Bool {
        guard let services = state.value.services else { return false }
        let route =
            switch step {
            case .task(let task): route(of: task, services)
            case .call(let object): route(of: object, services)
            }
        guard let route else { return false }
        blocks.count(route, duration)
        return true
    }

    func tookLong(_ duration: Duration) {
        blocks.count(nil, duration)
    }

    private func route(of task: TaskIdentity, _ services: LoopServices) -> String? {
        state.value.webSockets.handlers[task]?.name ?? services.route(of: task)
    }

    private func route(of object: AnyObject, _ services: LoopServices) -> String? {
        switch object {
        case let connection as HTTPConnection: connection.lastRoute.flatMap(services.name)
        case let socket as WebSocket: route(of: socket)
        case let forwarder as any StepForwarder: forwarder.stepTarget.flatMap { route(of: $0, services) }
        default: nil
        }
    }

    private func route(of socket: WebSocket) -> String? {
        let sockets = state.value.webSockets
        // A handler may end after the connection, and the step that it ends is the socket's, too.
        return (socket.assumeIsolated { sockets.endpoint(of: $0) } ?? sockets.handlers[.current])?.name
    }
}
