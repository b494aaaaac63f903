// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire
import Logging

/// The page of commands and messages.
struct CommandsRoom: InspectorRoom {
    private let commands: InspectorCommands
    private let runs: CommandRuns

    private struct Wish: Decodable {
        var command: String
        var arguments: [String: String]?
    }

    private struct Message: Decodable {
        var text: String
    }

    /// The number of a run, which the page gets and sends.
    struct Choice: Codable {
        var id: Int
    }

    /// What can be run.
    struct List: Codable, Sendable {
        struct Command: Codable, Sendable {
            var name: String
            var detail: String
            var arguments: [InspectorArgument.Field]
        }

        var commands: [Command]
        /// Whether the app takes messages.
        var messages: Bool
    }

    init(_ commands: InspectorCommands, on clock: any Clock<Duration> = ContinuousClock()) {
        self.commands = commands
        runs = CommandRuns(on: clock)
    }

    var page: String { "commands" }

    func add(to routes: inout InspectorRoutes) {
        let (runs, logger, list) = (runs, routes.logger, list)
        routes.get("/commands") { _ in try InspectorAnswer.json(list) }
        routes.get("/commands/run") { request in
            guard let id = try request.query["id"].flatMap({ Int($0) }), let run = runs.run(id) else {
                throw Problem(.notFound, "There is no such run any more.")
            }
            return try InspectorAnswer.json(CommandRuns.Shown(run, withAnswer: true))
        }
        routes.watch("commands") { _ in LiveState(every: .milliseconds(250)) { runs.list } }
        addChanges(to: &routes, logger)
    }

    private func addChanges(to routes: inout InspectorRoutes, _ logger: Logger) {
        let (commands, runs) = (commands, runs)
        routes.change(.commands, "/commands/run") { request, note in
            let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
            note.says(wish.command)
            guard let command = commands.all.first(where: { $0.name == wish.command }) else {
                throw Problem(.notFound, "There is no such command.")
            }
            let arguments = try InspectorArguments(wish.arguments ?? [:], for: command.arguments)
            let shown = arguments.shown(command.arguments).map { "\($0.name): \($0.text)" }.joined(separator: ", ")
            let id = try runs.begin(command, arguments, logger)
            note.says("\(wish.command) (\(shown)), run \(id)")
            return try InspectorAnswer.json(Choice(id: id))
        }
        routes.change(.commands, "/commands/message") { request, note in
            let message = try await request.decode(Message.self, decoder: CompactJSON.decoder)
            guard let command = commands.messages else { throw Problem(.notFound, "The app takes no messages.") }
            let arguments = try InspectorArguments(["text": message.text], for: command.arguments)
            let id = try runs.begin(command, arguments, isMessage: true, logger)
            note.says("a message, “\(message.text.prefix(200))”, run \(id)")
            return try InspectorAnswer.json(Choice(id: id))
        }
        routes.change(.commands, "/commands/stop") { request, note in
            let choice = try await request.decode(Choice.self, decoder: CompactJSON.decoder)
            note.says("stops run \(choice.id)")
            guard runs.stop(choice.id) else { throw Problem(.notFound, "That doesn't run any more.") }
            return try InspectorAnswer.json(choice)
        }
        routes.change(.commands, "/commands/forget") { _, note in
            note.says("forgets what has run")
            runs.removeEnded()
            return try InspectorAnswer.json(runs.list)
        }
    }

    /// What can be run, which doesn't change.
    private var list: List {
        let all = commands.all.map { command in
            List.Command(name: command.name, detail: command.detail, arguments: command.arguments.map(\.field))
        }
        return List(commands: all, messages: commands.messages != nil)
    }
}
