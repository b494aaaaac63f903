// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer

/// The values of a command's form, each valid for its argument.
public struct CommandArguments: Sendable {
    /// The longest text.
    static let limit = 65_536

    private let texts: [String: String]

    /// - Parameters:
    ///   - texts: what has been filled in, by name.
    ///   - arguments: what the command takes.
    /// - Throws: `Problem` with 400, which names the argument.
    init(_ texts: [String: String], for arguments: [CommandArgument]) throws {
        if let name = texts.keys.first(where: { name in !arguments.contains { $0.name == name } }) {
            throw Problem(.badRequest, "The command has no argument “\(name)”.")
        }
        var checked: [String: String] = [:]
        for argument in arguments { checked[argument.name] = try Self.check(texts[argument.name], argument) }
        self.texts = checked
    }

    private static func check(_ text: String?, _ argument: CommandArgument) throws -> String? {
        let name = argument.name
        guard let text, !text.isEmpty || argument.kind == .text && !argument.isOptional else {
            if argument.isOptional { return nil }
            // A default is a proposal of the form's: other clients that leave it out mean it.
            if text == nil, let initial = argument.initial { return initial }
            throw Problem(.badRequest, "“\(name)” is missing.")
        }
        switch argument.kind {
        case .text:
            if text.utf8.count > limit { throw Problem(.badRequest, "“\(name)” is longer than 64 KiB.") }
        case .number(let range):
            guard let number = Double(inspectorText: text) else {
                throw Problem(.badRequest, "“\(name)” is no number.")
            }
            if let range, !range.contains(number) {
                throw Problem(.badRequest, "“\(name)” isn't from \(range.lowerBound) to \(range.upperBound).")
            }
        case .bool:
            if Bool(text) == nil { throw Problem(.badRequest, "“\(name)” is neither true nor false.") }
        case .choice(let choices):
            if !choices.contains(text) { throw Problem(.badRequest, "“\(name)” is none of the choices.") }
        }
        return text
    }

    /// A text or a choice; `nil` for an argument that was left out, or that the command hasn't.
    public func text(_ name: String) -> String? { texts[name] }

    /// A number; `nil` for one that was left out, or that the command hasn't.
    public func number(_ name: String) -> Double? { texts[name].flatMap { Double(inspectorText: $0) } }

    /// A number without its fraction; `nil` for one that was left out, that the command hasn't, or that `Int` can't hold.
    public func integer(_ name: String) -> Int? { number(name).flatMap { Int(exactly: $0.rounded(.towardZero)) } }

    /// Whether it was chosen; not for one that was left out.
    public func bool(_ name: String) -> Bool { texts[name] == "true" }

    /// What was given, in the order of the arguments, secrets masked.
    func shown(_ arguments: [CommandArgument]) -> [(name: String, text: String)] {
        arguments.compactMap { argument in
            guard let text = texts[argument.name] else { return nil }
            let shown = argument.isSecret ? SecretNames.mask : text.count > 200 ? text.prefix(200) + "…" : text
            return (argument.name, shown)
        }
    }
}
