// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Foundation
import Logging
import Synchronization

/// What runs, and what has run: the last 50, with answers of 8 MiB at most.
final class CommandRuns: Sendable {
    /// How many run at a time.
    static let runningLimit = 16
    static let countLimit = 50
    static let sizeLimit = 8 * 1_048_576

    /// How a run stands.
    enum State: Sendable {
        case running
        case done(InspectorCommandResponse)
        case failed(String)
        case stopped

        var name: String {
            switch self {
            case .running: "running"
            case .done: "done"
            case .failed: "failed"
            case .stopped: "stopped"
            }
        }
    }

    /// One run.
    struct Run: Sendable {
        let id: Int
        let command: String
        let isMessage: Bool
        let arguments: [(name: String, text: String)]
        let began: Date
        var ended: Date?
        var state = State.running
        /// Whether an answer was forgotten, for the bound.
        var isForgotten = false

        /// How long it took, or takes so far, in seconds.
        func seconds(at now: Date) -> Double { max(0, (ended ?? now).timeIntervalSince(began)) }

        var size: Int {
            if case .done(let answer) = state { return answer.size }
            return 0
        }
    }

    private struct All {
        var runs: [Run] = []
        var tasks: [Int: Task<Void, Never>] = [:]
        /// Closures of the app that haven't returned; more than the tasks where some go on behind their deadline.
        var open = 0
        var last = 0
    }

    private let all = Mutex(All())
    private let clock: any Clock<Duration>

    init(on clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
    }

    /// Begins a run.
    ///
    /// - Parameters:
    ///   - command: what is run.
    ///   - arguments: with what.
    ///   - isMessage: whether it is a message.
    ///   - logger: logs its end.
    /// - Returns: its number.
    /// - Throws: `Problem` with 429 where too many run.
    func begin(
        _ command: CommandDefinition,
        _ arguments: InspectorArguments,
        isMessage: Bool = false,
        _ logger: Logger
    ) throws -> Int {
        try all.withLock { all in
            if all.open >= Self.runningLimit {
                throw Problem(.tooManyRequests, "\(Self.runningLimit) commands are running.")
            }
            all.open += 1
            all.last += 1
            let (id, name) = (all.last, command.name)
            let shown = arguments.shown(command.arguments)
            all.runs.append(Run(id: id, command: name, isMessage: isMessage, arguments: shown, began: Date()))
            let call = AppCall(within: command.limit, on: clock) { [self] in
                defer { self.all.withLock { $0.open -= 1 } }
                return try await command.run(arguments)
            }
            all.tasks[id] = Task.detached { [self] in
                let state: State
                do {
                    state = .done(try await call.value())
                } catch is CancellationError where Task.isCancelled {
                    state = .stopped
                } catch {
                    state = .failed(AppFailure.text(of: error))
                }
                end(id, state, logger)
            }
            return id
        }
    }

    private func end(_ id: Int, _ state: State, _ logger: Logger) {
        let run = all.withLock { all in
            all.tasks[id] = nil
            guard let index = all.runs.firstIndex(where: { $0.id == id }) else { return nil as Run? }
            all.runs[index].state = state
            all.runs[index].ended = Date()
            let run = all.runs[index]
            Self.trim(&all.runs)
            return run
        }
        guard let run else { return }
        logger.notice(
            "a command of the inspector has ended",
            metadata: [
                "command": "\(run.command)", "run": "\(id)", "outcome": "\(state.name)",
                "seconds": "\((run.seconds(at: Date()) * 1_000).rounded() / 1_000)",
            ]
        )
    }

    /// The oldest that are over go first; then answers, the oldest first.
    private static func trim(_ runs: inout [Run]) {
        while runs.count > countLimit, let index = runs.firstIndex(where: { $0.ended != nil }) {
            runs.remove(at: index)
        }
        var size = runs.reduce(0) { $0 + $1.size }
        for index in runs.indices.dropLast() where size > sizeLimit && runs[index].size > 0 {
            size -= runs[index].size
            runs[index].state = .done(.text(""))
            runs[index].isForgotten = true
        }
    }

    /// Stops one that runs.
    ///
    /// - Parameter id: its number.
    /// - Returns: whether it ran.
    func stop(_ id: Int) -> Bool {
        let task = all.withLock { $0.tasks[id] }
        task?.cancel()
        return task != nil
    }

    /// Forgets those that are over.
    func removeEnded() { all.withLock { all in all.runs.removeAll { $0.ended != nil } } }

    /// How many closures of the app haven't returned.
    var openCount: Int { all.withLock { $0.open } }

    func run(_ id: Int) -> Run? { all.withLock { all in all.runs.first { $0.id == id } } }

    /// All of them, the last one first.
    var list: [Shown] { all.withLock { $0.runs }.reversed().map { Shown($0, withAnswer: false) } }

    /// A run as the page gets it; what is false is left out.
    struct Shown: Codable, Hashable, Sendable {
        var id: Int
        var command: String
        var message: Bool?
        /// Names with their values.
        var arguments: [[String]]
        /// In seconds since 1970.
        var began: Double
        /// How long it has run; left out while it runs.
        var seconds: Double?
        var state: String
        var forgotten: Bool?
        var error: String?
        var answer: InspectorCommandResponse.Shown?

        init(_ run: Run, withAnswer: Bool) {
            id = run.id
            command = run.command
            if run.isMessage { message = true }
            arguments = run.arguments.map { [$0.name, $0.text] }
            began = run.began.timeIntervalSince1970
            if run.ended != nil { seconds = run.seconds(at: Date()) }
            state = run.state.name
            if run.isForgotten { forgotten = true }
            if case .failed(let error) = run.state { self.error = error }
            if withAnswer, case .done(let answer) = run.state, !run.isForgotten { self.answer = answer.shown }
        }
    }
}
