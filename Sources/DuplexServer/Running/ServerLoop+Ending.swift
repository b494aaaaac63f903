// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Logging

// How a loop's part of a server ends.

extension ServerLoop {
    /// Begins to end everything: idle connections at once, requests once they are answered, WebSockets by a closing
    /// handshake, in the batches of ``WebServer/drain``.
    ///
    /// - Parameter limit: how long all of it may take; as the server's settings say where it is nil. A second call with a shorter
    ///   one makes haste.
    func beginToEnd(within limit: Duration?) {
        loop.execute { [self] _ in
            let state = state.value
            if state.phase.isStopping { return hasten(limit) }
            state.services?.isStopping = true
            state.owner = self
            state.deadline = loop.core.now.advanced(by: limit ?? server.drain.spread + server.closeTimeout)
            state.leaving = state.webSockets.values.compactMap(\.socket).map { .webSocket($0) }
            state.leaving += state.connections.filter(\.isPushing).map { .response($0) }
            let plan = plan(state.leaving.count, limit)
            let action = state.phase.stop(plan)
            for connection in state.connections { connection.stop() }
            perform(action)
        }
    }

    private func plan(_ count: Int, _ limit: Duration?) -> DrainPlan {
        guard let limit else {
            return DrainPlan(count: count, over: server.drain.spread, cutAfter: server.closeTimeout)
        }
        state.value.cutsWebSockets = true
        return DrainPlan(count: count, over: .zero, cutAfter: limit)
    }

    private func hasten(_ limit: Duration?) {
        guard let limit, !state.value.hasEnded else { return }
        let deadline = loop.core.now.advanced(by: limit)
        if let earlier = state.value.deadline, earlier <= deadline { return }
        state.value.deadline = deadline
        if let timer = state.value.timer { loop.core.cancel(timer) }
        state.value.timer = nil
        perform(state.value.phase.hasten(plan(state.value.leaving.count, limit)))
    }

    func perform(_ action: LoopPhase.Action) {
        let state = state.value
        switch action {
        case .none: break
        case .close(let count, let wait):
            close(count)
            comeBack(after: wait)
        case .closeLast(let count, let wait):
            state.isLastBatch = true
            close(count)
            comeBack(after: wait)
        case .cutAll:
            for connection in state.connections { connection.abort() }
            // As a rule they have a deadline of their own for their closing handshakes.
            let sockets = state.cutsWebSockets ? state.webSockets.values.compactMap(\.socket) : []
            for socket in sockets { socket.assumeIsolated { $0.reset() } }
            nameHandlers()
            letGo()
        }
    }

    func letGo() {
        let leavers = state.value.leavers
        state.value.leavers = []
        for leaver in leavers { leaver.resume() }
    }

    /// Waits until all has ended, or until what is left has been cut.
    func untilCut() async {
        let state = state
        let loop = loop
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.execute { _ in
                let state = state.value
                if state.hasEnded || state.phase == .cut {
                    continuation.resume()
                } else {
                    state.leavers.append(continuation)
                }
            }
        }
    }

    private func comeBack(after wait: Duration) {
        state.value.timer = loop.core.schedule(state.value, at: loop.core.now.advanced(by: wait))
    }

    private func close(_ count: Int) {
        state.value.mustClose += count
        if !state.value.isClosePlanned { closeNext() }
    }

    /// Closes those whose turn has come: in several turns of the loop where they are many.
    func closeNext() {
        let state = state.value
        var share = TurnShare()
        while state.mustClose > 0, let next = state.leaving.popLast() {
            state.mustClose -= 1
            close(next)
            guard share.isOver(loop.core) else { continue }
            state.isClosePlanned = true
            return loop.core.callNextTurn(state)
        }
        state.mustClose = 0
        guard state.isLastBatch else { return }
        // Not before: a handler that is cancelled ends its connection in its own way.
        state.isLastBatch = false
        state.mustCancel = true
        state.wakeStarter()
    }

    private func close(_ leaving: Leaving) {
        switch leaving {
        case .webSocket(let socket):
            let drain = server.drain
            socket.assumeIsolated { socket in
                socket.cancelHandler()
                socket.beginClose(drain.code, reason: drain.reason)
            }
        case .response(let connection): connection.endPushing()
        }
    }

    /// The routes whose handlers are at work, once for each handler.
    var runningRoutes: [String] {
        let names = state.value.webSockets.values.filter(\.isHandlerRunning).map(\.endpoint.name)
        return names + (state.value.services?.runningRoutes ?? [])
    }

    /// Whether connections are open.
    var hasConnections: Bool { !state.value.isEmpty }

    /// Names the handlers that still run although they were cancelled: the server waits for them, or abandons them.
    private func nameHandlers() {
        let names = runningRoutes
        for (name, count) in Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).sorted(by: { $0.key < $1.key }) {
            server.logger.warning(
                "a handler outlives the server",
                metadata: ["route": "\(name)", "count": "\(count)", "waits": "\(!server.leavesHandlersBehind)"]
            )
        }
    }
}
