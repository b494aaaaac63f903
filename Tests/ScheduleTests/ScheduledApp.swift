// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization

/// The app of a schedule: receives as the schedule says, and notes what it got.
final class ScheduledApp: Sendable {
    /// What the app got, and how its connection ended.
    struct Outcome: Sendable {
        var messages: [Message] = []
        /// `nil` if no connection was opened.
        var report: CloseReport?
        /// Whether the app's loop over the messages ended without an error.
        var endedInOrder = false
        /// Why no connection was opened.
        var failure: String?
    }

    private struct Note {
        var outcome = Outcome()
        var isOver = false
        var mayGoOn = false
    }

    let schedule: Schedule
    private let note = Bulletin(Note())

    init(_ schedule: Schedule) {
        self.schedule = schedule
    }

    /// What the app got so far.
    var outcome: Outcome { note.value.outcome }
    var isOver: Bool { note.value.isOver }

    /// Waits until the app's connection has ended.
    func end() async throws -> Outcome {
        try await note.wait { $0.isOver ? $0.outcome : nil }
    }

    /// Lets an app go on that pauses.
    func goOn() {
        note.change { $0.mayGoOn = true }
    }

    fileprivate func change(_ body: (inout Outcome) -> Void) {
        note.look { body(&$0.outcome) }
    }

    fileprivate func finish(_ report: CloseReport) {
        note.change { note in
            note.outcome.report = report
            note.isOver = true
        }
    }

    /// Ends an app whose connection wasn't opened.
    func fail(_ error: any Error) {
        note.change { note in
            note.outcome.failure = "\(error)"
            note.isOver = true
        }
    }

    // MARK: As a task

    /// Handles a connection until it has ended.
    func handle(_ socket: isolated WebSocket) async {
        do {
            switch schedule.receiver {
            case .handler: return
            case .task: try await receive(socket)
            case .pieces: try await receivePieces(socket)
            case .elsewhere: try await Task.detached { try await self.receiveElsewhere(socket) }.value
            }
        } catch {
            // How it ended is in the report.
        }
        // A transport that ends now ends no less.
        await socket.close()
        finish(socket.closeReport)
    }

    private func receive(_ socket: isolated WebSocket) async throws {
        if schedule.closesAfter == 0 { return }
        if schedule.pausesAfter == 0 { _ = try await note.wait { $0.mayGoOn ? true : nil } }
        if schedule.cancelsBefore == 0, try await cancelOnce(socket) { return }
        for try await message in socket.messages {
            if try await took(message, socket) { return }
            if outcome.messages.count == schedule.cancelsBefore, try await cancelOnce(socket) { return }
        }
        change { $0.endedInOrder = true }
    }

    private func receiveElsewhere(_ socket: WebSocket) async throws {
        if schedule.closesAfter == 0 { return }
        for try await message in socket.messages {
            change { $0.messages.append(message) }
            // It may come too late for a peer that has closed.
            if schedule.echoes { try? await socket.send(message) }
            if outcome.messages.count == schedule.closesAfter { return }
        }
        change { $0.endedInOrder = true }
    }

    private func receivePieces(_ socket: isolated WebSocket) async throws {
        if schedule.closesAfter == 0 { return }
        for try await message in socket.streamedMessages {
            var bytes: [UInt8] = []
            for try await piece in message { bytes += piece }
            let whole = message.kind == .text ? Message.text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes)
            if try await took(whole, socket) { return }
        }
        change { $0.endedInOrder = true }
    }

    /// Notes a message, and does with it what the schedule says.
    ///
    /// - Returns: whether the app takes no more.
    private func took(_ message: Message, _ socket: isolated WebSocket) async throws -> Bool {
        change { $0.messages.append(message) }
        let count = outcome.messages.count
        // It may come too late for a peer that has closed.
        if schedule.echoes { try? await socket.send(message) }
        if count == schedule.closesAfter { return true }
        if count == schedule.pausesAfter { _ = try await note.wait { $0.mayGoOn ? true : nil } }
        return false
    }

    /// Begins to receive in a task that is cancelled; a message that comes first counts.
    ///
    /// - Returns: As ``took(_:_:)``.
    private func cancelOnce(_ socket: isolated WebSocket) async throws -> Bool {
        let task = Task(executorPreference: socket.loop) { try await socket.receive() }
        await Task.yield()
        task.cancel()
        // An end of the connection comes again to the app's loop.
        guard case .success(let message) = await task.result else { return false }
        return try await took(message, socket)
    }
}

/// The synchronous handler of the schedule that is being performed.
struct ScheduledHandler: WebSocketHandler {
    let app: @Sendable () -> ScheduledApp?

    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        guard let app = app() else { return }
        let payload = [UInt8](copying: bytes)
        let message = kind == .text ? Message.text(String(decoding: payload, as: UTF8.self)) : .binary(payload)
        app.change { $0.messages.append(message) }
        if app.schedule.echoes { socket.enqueue(bytes, kind) }
        if app.outcome.messages.count == app.schedule.closesAfter { socket.beginClose(.normalClosure) }
    }

    func opened(_ socket: isolated WebSocket) {
        if app()?.schedule.closesAfter == 0 { socket.beginClose(.normalClosure) }
    }

    func closed(_ socket: isolated WebSocket, _ report: CloseReport) {
        app()?.finish(report)
    }
}
