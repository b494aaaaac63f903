// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

extension FaultProxy {
    /// A client's connection and the one to the server that belongs to it.
    struct Relay: Sendable {
        let client: Socket
        let server: Socket
        /// What was released of each direction since the faults were set last.
        private var released: [Faults.Direction: Released] = [:]

        private struct Released: Sendable {
            var epoch: Int
            /// `nil` for all.
            var pieces: Int?
        }

        init(client: Socket, server: Socket) {
            self.client = client
            self.server = server
        }

        mutating func release(_ direction: Faults.Direction, pieces: Int?, epoch: Int) {
            let before =
                released[direction].flatMap { $0.epoch == epoch ? $0 : nil } ?? Released(epoch: epoch, pieces: 0)
            let sum = pieces.flatMap { more in before.pieces.map { $0 + more } }
            released[direction] = Released(epoch: epoch, pieces: sum)
        }

        /// Whether a piece may go through although its direction is stalled; it is taken off what was released.
        mutating func takeReleased(_ direction: Faults.Direction, epoch: Int) -> Bool {
            guard let there = released[direction], there.epoch == epoch else { return false }
            guard let pieces = there.pieces else { return true }
            released[direction]?.pieces = max(0, pieces - 1)
            return pieces > 0
        }
    }

    /// What happens to the bytes that wait.
    private enum Step: Sendable {
        /// So many of them are sent.
        case send(Int)
        /// Nothing more: all are sent, or are thrown away.
        case done
        case reset
        case end
        /// Nothing any more: the connection is over.
        case over
    }

    /// How far one direction of a connection is.
    private struct Progress {
        var epoch = -1
        /// The bytes that went through since the faults were set.
        var passed = 0
        var hasEnded = false
    }

    /// Connects a client to the server, and passes on what they send until both have ended or one is lost.
    func relay(_ client: Socket) async {
        bulletin.change { $0.counters.accepted += 1 }
        let server: Socket
        do {
            server = try await Socket.connect(to: target, on: group)
        } catch {
            await client.reset()
            bulletin.change { $0.counters.unreachable += 1 }
            return
        }
        let relay = Relay(client: client, server: server)
        let id = bulletin.change { state in
            state.lastID += 1
            state.relays[state.lastID] = relay
            state.counters.open += 1
            return state.lastID
        }
        async let toServer: Void = pump(.toServer, id, relay)
        async let toClient: Void = pump(.toClient, id, relay)
        _ = await (toServer, toClient)
        await client.close()
        await server.close()
        remove(id)
    }

    /// Resets both sides of a connection; does nothing when it is over.
    func lose(_ id: Int, _ relay: Relay, isFault: Bool) async {
        guard remove(id) else { return }
        await relay.client.reset()
        await relay.server.reset()
        if isFault { bulletin.change { $0.counters.resets += 1 } }
    }

    @discardableResult
    private func remove(_ id: Int) -> Bool {
        bulletin.change { state in
            guard state.relays.removeValue(forKey: id) != nil else { return false }
            state.counters.open -= 1
            return true
        }
    }

    // MARK: One direction

    private func pump(_ direction: Faults.Direction, _ id: Int, _ relay: Relay) async {
        let (source, sink) = direction == .toServer ? (relay.client, relay.server) : (relay.server, relay.client)
        var progress = Progress()
        do {
            // What happens after no byte at all doesn't wait for one.
            guard try await pass([], direction, id, relay, &progress) else { return }
            while let bytes = try await source.read() {
                guard try await pass(bytes, direction, id, relay, &progress) else { return }
            }
            if !progress.hasEnded { await sink.finishWriting() }
        } catch {
            // Lost by itself, or the proxy is being stopped.
            await lose(id, relay, isFault: false)
        }
    }

    /// Passes bytes on as the faults say.
    ///
    /// - Returns: whether the connection goes on.
    private func pass(
        _ bytes: [UInt8],
        _ direction: Faults.Direction,
        _ id: Int,
        _ relay: Relay,
        _ progress: inout Progress
    ) async throws -> Bool {
        let sink = direction == .toServer ? relay.server : relay.client
        var rest = bytes[...]
        // Once more when all are sent, for what happens after just so many.
        while true {
            switch try await nextStep(rest.count, direction, id, &progress) {
            case .over: return false
            case .done: return true
            case .send(let count):
                try await sink.write(Array(rest.prefix(count)))
                await Self.turnEnded(of: sink)
                rest = rest.dropFirst(count)
                progress.passed += count
                bulletin.change { state in
                    state.counters[direction].bytes += count
                    state.counters[direction].pieces += 1
                }
            case .reset:
                await lose(id, relay, isFault: true)
                return false
            case .end:
                progress.hasEnded = true
                await sink.finishWriting()
                bulletin.change { $0.counters.ends += 1 }
            }
        }
    }

    /// Decides what happens next, and waits while nothing does.
    private func nextStep(
        _ waiting: Int,
        _ direction: Faults.Direction,
        _ id: Int,
        _ progress: inout Progress
    ) async throws -> Step {
        if let step = bulletin.look({ Self.step(waiting, direction, id, &$0, &progress) }) { return step }
        // Told once, and not at each look: those who wait would wake each other for ever.
        bulletin.change { $0.counters.stalled += 1 }
        defer { bulletin.change { $0.counters.stalled -= 1 } }
        return try await bulletin.wait { Self.step(waiting, direction, id, &$0, &progress) }
    }

    /// What happens next; `nil` when nothing does before something is released or changed.
    private static func step(
        _ waiting: Int,
        _ direction: Faults.Direction,
        _ id: Int,
        _ state: inout State,
        _ progress: inout Progress
    ) -> Step? {
        guard state.relays[id] != nil else { return Step.over }
        if progress.epoch != state.epoch {
            progress.epoch = state.epoch
            progress.passed = 0
        }
        let flow = state.faults[direction]
        if let place = flow.resetAfter, progress.passed >= place { return .reset }
        if let place = flow.endAfter, progress.passed >= place, !progress.hasEnded { return .end }
        // What comes after the end of the stream is thrown away.
        if waiting == 0 || progress.hasEnded { return .done }
        if let place = flow.stallAfter, progress.passed >= place {
            guard state.relays[id]?.takeReleased(direction, epoch: state.epoch) == true else { return nil }
        }
        return .send(flow.piece(of: waiting, passed: progress.passed))
    }

    /// Waits until what was written to a socket before is sent, as far as the system takes it.
    private static func turnEnded(of socket: Socket) async {
        await withCheckedContinuation { continuation in
            // On another thread's behalf it runs in the turn after the one that wrote, which ended with sending.
            socket.loop.execute { _ in continuation.resume() }
        }
    }
}
