// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The commands that an inspector offers, each with a form of its own, and the handler of messages from the page.
///
/// ```swift
/// options.commands.add("Reindex", .text("folder", default: "/"), .bool("deep")) { arguments in
///     "\(try await index.rebuild(arguments.text("folder"), deep: arguments.bool("deep"))) files"
/// }
/// ```
///
/// The page runs them where ``InspectorChange/commands`` is allowed: up to 16 at a time.
public struct InspectorCommands: Sendable {
    private(set) var all: [CommandDefinition] = []
    /// Takes messages.
    private(set) var messages: CommandDefinition?

    /// Makes none.
    public init() {}

    /// Adds a command.
    ///
    /// Its task is cancelled when somebody stops it, and when its time is up. A closure that ignores its cancellation
    /// runs on, and counts as one of the 16 until it returns.
    ///
    /// - Parameters:
    ///   - name: its name; each has another one.
    ///   - arguments: what it takes, in the order of the form.
    ///   - detail: what it does, in a sentence. Default: none.
    ///   - limit: how long it may take. Default: 60 s.
    ///   - run: does it, off the server's loops; an error that it throws is shown.
    public mutating func add(
        _ name: String,
        _ arguments: InspectorArgument...,
        detail: String = "",
        within limit: Duration = .seconds(60),
        _ run: @escaping @Sendable (InspectorArguments) async throws -> InspectorCommandResponse
    ) {
        precondition(!all.contains { $0.name == name }, "There are two commands of the name \(name).")
        precondition(
            Set(arguments.map(\.name)).count == arguments.count,
            "There are two arguments of one name in \(name)."
        )
        all.append(CommandDefinition(name: name, detail: detail, arguments: arguments, limit: limit, run: run))
    }

    /// Takes the messages that somebody writes on the page: text or JSON, up to 64 KiB; the last closure counts.
    ///
    /// - Parameters:
    ///   - limit: how long an answer may take. Default: 20 s.
    ///   - answer: answers a message.
    mutating func takeMessages(
        within limit: Duration,
        _ answer: @escaping @Sendable (String) async throws -> InspectorCommandResponse
    ) {
        messages = CommandDefinition(
            name: "Message",
            detail: "",
            arguments: [.text("text")],
            limit: limit,
            run: { try await answer($0.text("text") ?? "") }
        )
    }
}

/// A command as the app has it.
struct CommandDefinition: Sendable {
    let name: String
    let detail: String
    let arguments: [InspectorArgument]
    let limit: Duration
    let run: @Sendable (InspectorArguments) async throws -> InspectorCommandResponse
}
