// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Synchronization

/// One connection of a run: keeps a number of messages in flight and checks every echo.
///
/// Works from within the loop's calls, or in a task on the loop; the lock is for the compiler and for the end of the run, and hardly ever waited for.
final class BenchConnection: WebSocketHandler {
    /// How a connection's part in the run ended.
    enum End: Sendable, Equatable {
        /// Every message came back as it was sent.
        case complete
        /// An echo was wrong, or the connection was lost.
        case failed(String)
    }

    private struct State {
        var payload: BenchPayload
        var sent: UInt64 = 0
        var received: UInt64 = 0
        /// When the messages in flight were sent, by their number modulo the depth.
        var sentAt: [Instant]
        var recorder: BenchRecorder?
        var end: End?
    }

    private let depth: UInt64
    private let stage: BenchStage
    private let recorders: [ObjectIdentifier: BenchRecorder]
    private let onEnd: @Sendable (End) -> Void
    private let state: Mutex<State>

    /// Makes a connection that begins when it is opened.
    ///
    /// - Parameters:
    ///   - payload: its messages.
    ///   - depth: how many are in flight at once.
    ///   - stage: where the run stands.
    ///   - recorders: for each loop, where its latencies go.
    ///   - onEnd: called once, on the loop.
    init(
        payload: BenchPayload,
        depth: Int,
        stage: BenchStage,
        recorders: [ObjectIdentifier: BenchRecorder],
        onEnd: @escaping @Sendable (End) -> Void
    ) {
        self.depth = UInt64(depth)
        self.stage = stage
        self.recorders = recorders
        self.onEnd = onEnd
        state = Mutex(State(payload: payload, sentAt: Array(repeating: .now(), count: depth)))
    }

    /// How many messages have been sent and not come back.
    var inFlight: Int {
        state.withLock { Int($0.sent - $0.received) }
    }

    func opened(_ socket: isolated WebSocket) {
        state.withLock { state in
            state.recorder = recorders[ObjectIdentifier(socket.loop)]
            fill(&state, stage.name, socket)
        }
    }

    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        let end = state.withLock { state -> End? in
            guard state.end == nil else { return nil }
            // Read once: a stage that changed in between would leave a connection neither sending nor complete.
            let stage = stage.name
            state.end = check(bytes, kind, stage, &state)
            if state.end == nil { fill(&state, stage, socket) }
            return state.end
        }
        if let end { onEnd(end) }
    }

    func becameWritable(_ socket: isolated WebSocket) {
        state.withLock { fill(&$0, stage.name, socket) }
    }

    func closed(_ socket: isolated WebSocket, _ report: CloseReport) {
        lost(report.description)
    }

    // MARK: From a task

    /// Takes note of the loop.
    ///
    /// - Returns: where the run stands.
    func began(on loop: EventLoop) -> BenchStage.Name {
        state.withLock { $0.recorder = recorders[ObjectIdentifier(loop)] }
        return stage.name
    }

    /// The next message to be sent; `nil` once the depth is reached or the run is ending.
    func next(_ stage: BenchStage.Name) -> Message? {
        state.withLock { state in
            guard state.end == nil, stage != .draining, state.sent - state.received < depth else { return nil }
            state.sentAt[Int(state.sent % depth)] = .now()
            defer { state.sent += 1 }
            return state.payload.message(state.sent)
        }
    }

    /// Checks an echo.
    ///
    /// - Returns: where the run stands; `nil` once this connection's part has ended.
    func received(_ message: Message) -> BenchStage.Name? {
        // Read once, as above.
        let stage = stage.name
        let end = state.withLock { state -> End? in
            switch message {
            case .text(let text): state.end = check(text.utf8.span.raw, .text, stage, &state)
            case .binary(let bytes): state.end = check(bytes.span.raw, .binary, stage, &state)
            }
            return state.end
        }
        guard let end else { return stage }
        onEnd(end)
        return nil
    }

    /// Takes note that the connection has ended by itself.
    func lost(_ reason: String) {
        end(.failed("A connection ended: \(reason.visible)."))
    }

    private func end(_ end: End) {
        let isFirst = state.withLock { state in
            defer { state.end = state.end ?? end }
            return state.end == nil
        }
        if isFirst { onEnd(end) }
    }

    // MARK: Both

    /// Checks an echo and records its latency.
    ///
    /// - Returns: how the run ends for this connection, if it does now.
    private func check(
        _ bytes: RawSpan,
        _ kind: Message.Kind,
        _ stage: BenchStage.Name,
        _ state: inout State
    ) -> End? {
        let number = state.received
        guard number < state.sent else { return .failed("More echoes came than messages were sent.") }
        if let mismatch = state.payload.mismatch(bytes, kind, expected: number) {
            return .failed(mismatch.description)
        }
        state.received += 1
        if stage == .measuring {
            let latency = state.sentAt[Int(number % depth)].duration(to: .now())
            state.recorder?.record(UInt64(max(0, latency.wholeNanoseconds)))
        }
        return stage == .draining && state.received == state.sent ? .complete : nil
    }

    /// Sends until the depth is reached or the connection is above its high-water mark, unless the run is ending.
    private func fill(_ state: inout State, _ stage: BenchStage.Name, _ socket: isolated WebSocket) {
        guard state.end == nil, stage != .draining else { return }
        var hasRoom = true
        while hasRoom && state.sent - state.received < depth {
            state.sentAt[Int(state.sent % depth)] = .now()
            hasRoom = state.payload.withMessage(state.sent) { [kind = state.payload.kind] in socket.enqueue($0, kind) }
            state.sent += 1
        }
    }

    // MARK: The task

    /// Sends the first messages; here, since the task behind it may get its thread when the run is over.
    func begin(on socket: isolated WebSocket) async {
        do {
            let stage = began(on: socket.loop)
            while let message = next(stage) { try await socket.send(message) }
        } catch {
            lost("\(error)")
        }
    }

    /// Keeps the messages in flight over a connection until its part has ended.
    func run(on socket: isolated WebSocket) async {
        do {
            for try await message in socket.messages {
                guard let stage = received(message) else { return }
                while let message = next(stage) { try await socket.send(message) }
            }
            lost("\(socket.closeReport)")
        } catch {
            lost("\(error)")
        }
    }

    /// Sends the first messages of an endless connection.
    func begin(on client: isolated ReconnectingWebSocket) async {
        do {
            let stage = began(on: client.loop)
            while let message = next(stage) { try await client.send(message) }
        } catch {
            lost("\(error)")
        }
    }

    /// Keeps the messages in flight over an endless connection until its part has ended.
    func run(on client: isolated ReconnectingWebSocket) async {
        do {
            for try await message in client.messages {
                guard let stage = received(message) else { return }
                while let message = next(stage) { try await client.send(message) }
            }
            lost("\(client.state)")
        } catch {
            lost("\(error)")
        }
    }
}
