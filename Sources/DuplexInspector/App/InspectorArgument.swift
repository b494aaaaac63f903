// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire

/// An argument of a command, a field of the page's form.
public struct InspectorArgument: Sendable, Hashable {
    /// What it takes.
    enum Kind: Sendable, Hashable {
        case text
        case number(ClosedRange<Double>?)
        case bool
        case choice([String])

        var name: String {
            switch self {
            case .text: "text"
            case .number: "number"
            case .bool: "bool"
            case .choice: "choice"
            }
        }
    }

    let name: String
    let kind: Kind
    /// What the field holds at first.
    var initial: String?
    private(set) var isOptional = false
    private(set) var isSecret = false

    private init(_ name: String, _ kind: Kind, _ initial: String?) {
        self.name = name
        self.kind = kind
        self.initial = initial
    }

    /// Any text, up to 64 KiB.
    ///
    /// - Parameters:
    ///   - name: its name in the form and in ``InspectorArguments``.
    ///   - initial: what the field holds at first. Default: nothing.
    /// - Returns: the argument.
    public static func text(_ name: String, default initial: String? = nil) -> InspectorArgument {
        InspectorArgument(name, .text, initial)
    }

    /// A finite number.
    ///
    /// - Parameters:
    ///   - name: its name in the form and in ``InspectorArguments``.
    ///   - range: what it may be. Default: any number.
    ///   - initial: what the field holds at first. Default: nothing.
    /// - Returns: the argument.
    public static func number(
        _ name: String,
        in range: ClosedRange<Double>? = nil,
        default initial: Double? = nil
    ) -> InspectorArgument {
        let text = initial.map { $0 == $0.rounded() && abs($0) < 1e15 ? "\(Int64($0))" : "\($0)" }
        return InspectorArgument(name, .number(range), text)
    }

    /// Yes or no.
    ///
    /// - Parameters:
    ///   - name: its name in the form and in ``InspectorArguments``.
    ///   - initial: what it is at first. Default: no.
    /// - Returns: the argument.
    public static func bool(_ name: String, default initial: Bool = false) -> InspectorArgument {
        InspectorArgument(name, .bool, "\(initial)")
    }

    /// One of several texts.
    ///
    /// - Parameters:
    ///   - name: its name in the form and in ``InspectorArguments``.
    ///   - choices: these texts.
    ///   - initial: which of them is chosen at first. Default: the first.
    /// - Returns: the argument.
    public static func choice(_ name: String, of choices: [String], default initial: String? = nil) -> InspectorArgument
    {
        InspectorArgument(name, .choice(choices), initial ?? choices.first)
    }

    /// The same, which may be left out.
    public var optional: InspectorArgument {
        var argument = self
        argument.isOptional = true
        return argument
    }

    /// The same, which is masked in the form, in the log and in the list of what has run.
    public var secret: InspectorArgument {
        var argument = self
        argument.isSecret = true
        return argument
    }

    var field: Field {
        var field = Field(name: name, kind: kind.name)
        if case .choice(let choices) = kind { field.choices = choices }
        if case .number(let range?) = kind {
            func finite(_ bound: Double) -> OrNull<Double> { OrNull(wrappedValue: bound.isFinite ? bound : nil) }
            field.least = finite(range.lowerBound)
            field.most = finite(range.upperBound)
        }
        if !isSecret { field.initial = initial }
        if isOptional { field.optional = true }
        if isSecret { field.secret = true }
        return field
    }

    /// A field of the form, as the page gets it; what is false is left out.
    struct Field: Codable, Equatable, Sendable {
        var name: String
        var kind: String
        var choices: [String]?
        /// The bounds of a number; null where there is none on that side.
        var least: OrNull<Double>?
        var most: OrNull<Double>?
        var initial: String?
        var optional: Bool?
        var secret: Bool?
    }
}

/// The values of a command's form, each valid for its argument.
public struct InspectorArguments: Sendable {
    /// The longest text.
    static let limit = 65_536

    private let texts: [String: String]

    /// - Parameters:
    ///   - texts: what has been filled in, by name.
    ///   - arguments: what the command takes.
    /// - Throws: `Problem` with 400, which names the argument.
    init(_ texts: [String: String], for arguments: [InspectorArgument]) throws {
        if let name = texts.keys.first(where: { name in !arguments.contains { $0.name == name } }) {
            throw Problem(.badRequest, "The command has no argument “\(name)”.")
        }
        var checked: [String: String] = [:]
        for argument in arguments { checked[argument.name] = try Self.check(texts[argument.name], argument) }
        self.texts = checked
    }

    private static func check(_ text: String?, _ argument: InspectorArgument) throws -> String? {
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
            guard let number = ValueForm.number.value(text) else {
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
    public func number(_ name: String) -> Double? { texts[name].flatMap { ValueForm.number.value($0) } }

    /// A number without its fraction; `nil` for one that was left out, that the command hasn't, or that `Int` can't hold.
    public func integer(_ name: String) -> Int? { number(name).flatMap { Int(exactly: $0.rounded(.towardZero)) } }

    /// Whether it was chosen; not for one that was left out.
    public func bool(_ name: String) -> Bool { texts[name] == "true" }

    /// What was given, in the order of the arguments, secrets masked.
    func shown(_ arguments: [InspectorArgument]) -> [(name: String, text: String)] {
        arguments.compactMap { argument in
            guard let text = texts[argument.name] else { return nil }
            let shown = argument.isSecret ? SecretNames.mask : text.count > 200 ? text.prefix(200) + "…" : text
            return (argument.name, shown)
        }
    }
}
