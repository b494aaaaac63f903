// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

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
