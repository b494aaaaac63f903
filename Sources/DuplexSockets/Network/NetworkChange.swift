// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Something of this machine's network has changed.
public enum NetworkChange: Sendable, Hashable, CustomStringConvertible {
    /// An interface can be used now: it is switched on, and has its link.
    case interfaceUp(String)
    /// An interface can't be used any more: it was switched off, has lost its link, or is gone.
    case interfaceDown(String)
    /// An interface has got an address, and may use it.
    case addressAdded(SocketAddress, interface: String)
    /// An interface has lost an address.
    case addressRemoved(SocketAddress, interface: String)
    /// The ways to other networks have changed.
    case routeChanged
    /// More has changed than was kept, by the system or for a slow reader: assume that everything has changed.
    ///
    /// An interface may have gone down and come up again without a report of either.
    case missed

    /// Whether something can't be used any more that could be, and nothing else.
    package var isLoss: Bool {
        switch self {
        case .interfaceDown, .addressRemoved: true
        case .interfaceUp, .addressAdded, .routeChanged, .missed: false
        }
    }

    /// What it is, for people.
    public var description: String {
        switch self {
        case .interfaceUp(let name): "\(name) is up"
        case .interfaceDown(let name): "\(name) is down"
        case .addressAdded(let address, let name): "\(name) has \(address.host)"
        case .addressRemoved(let address, let name): "\(name) hasn't \(address.host) any more"
        case .routeChanged: "the routes have changed"
        case .missed: "more has changed than was kept"
        }
    }
}

/// The changes that somebody hasn't seen yet; bounded.
///
/// A change that waits already doesn't wait twice, but moves to the end: so the last word on each interface and each
/// address is the last that is seen, and that it went down in between is seen, too.
struct PendingChanges {
    /// How many wait at most; beyond that all of them become one ``NetworkChange/missed``.
    static let bound = 256

    private(set) var changes: [NetworkChange] = []

    mutating func add(_ change: NetworkChange) {
        changes.removeAll { $0 == change }
        if changes.count >= Self.bound { changes = [.missed] }
        changes.append(change)
    }

    /// Takes the oldest one out.
    mutating func next() -> NetworkChange? {
        changes.isEmpty ? nil : changes.removeFirst()
    }
}

/// Changes of the network as they come; see ``NetworkMonitor/changes``.
struct NetworkChanges: AsyncSequence, Sendable {
    let queue: NetworkChangeQueue
    /// Kept, so that it goes on for as long as somebody reads.
    let monitor: NetworkMonitor?

    struct AsyncIterator: AsyncIteratorProtocol {
        let changes: NetworkChanges

        mutating func next() async throws -> NetworkChange? {
            try await changes.queue.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changes: self)
    }
}

/// Keeps the changes that one reader hasn't taken, and those who wait for the next.
final class NetworkChangeQueue: NetworkListener {
    private struct State {
        var pending = PendingChanges()
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastID: UInt64 = 0
        var end: Result<Void, SocketError>?

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let state = Mutex(State())

    /// How many tasks wait.
    var waitingCount: Int { state.withLock { $0.waiters.count } }

    func changed(_ changes: [NetworkChange]) {
        let waiters = state.withLock { state in
            for change in changes { state.pending.add(change) }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    func ended(_ error: SocketError?) {
        let waiters = state.withLock { state in
            state.end = error.map { .failure($0) } ?? .success(())
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The next change, or the end, behind what still waits.
    func next() async throws -> NetworkChange? {
        while true {
            try Task.checkCancellation()
            let (change, end) = state.withLock { state in (state.pending.next(), state.end) }
            if let change { return change }
            if let end {
                try end.get()
                return nil
            }
            await wait()
        }
    }

    private func wait() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard state.pending.changes.isEmpty, state.end == nil, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}

/// A listener for changes of the network, called on the monitor's loop; must not block.
protocol NetworkListener: AnyObject, Sendable {
    /// Whether it is called before the others, which build on what it has done.
    var isFirst: Bool { get }

    /// Changes, in their order.
    func changed(_ changes: [NetworkChange])

    /// There will be no more; with why, unless the monitor was stopped.
    func ended(_ error: SocketError?)
}

extension NetworkListener {
    var isFirst: Bool { false }
}

/// Passes changes on to whoever listens, and keeps nobody alive by that.
final class NetworkListeners: Sendable {
    private struct Weak {
        weak var listener: (any NetworkListener)?
    }

    private struct State {
        var listeners: [ObjectIdentifier: Weak] = [:]
        var isOver = false
        var error: SocketError?
    }

    private let state = Mutex(State())

    /// How many listen.
    var count: Int {
        state.withLock { state in state.listeners.values.count { $0.listener != nil } }
    }

    /// Adds one, which gets the end at once if that has come.
    func add(_ listener: any NetworkListener) {
        let (isOver, error) = state.withLock { state in
            state.listeners = state.listeners.filter { $0.value.listener != nil }
            if !state.isOver { state.listeners[ObjectIdentifier(listener)] = Weak(listener: listener) }
            return (state.isOver, state.error)
        }
        if isOver { listener.ended(error) }
    }

    func tell(_ changes: [NetworkChange]) {
        if changes.isEmpty { return }
        let listeners = state.withLock { $0.listeners.values.compactMap(\.listener) }
        for listener in listeners where listener.isFirst { listener.changed(changes) }
        for listener in listeners where !listener.isFirst { listener.changed(changes) }
    }

    /// Tells the end, once.
    func end(_ error: SocketError?) {
        let listeners = state.withLock { state -> [any NetworkListener] in
            if state.isOver { return [] }
            state.isOver = true
            state.error = error
            defer { state.listeners = [:] }
            return state.listeners.values.compactMap(\.listener)
        }
        for listener in listeners { listener.ended(error) }
    }
}
