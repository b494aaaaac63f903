// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire

/// An argument of a command, a field of the page's form.
public struct CommandArgument: Sendable, Hashable {
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
    ///   - name: its name in the form and in ``CommandArguments``.
    ///   - initial: what the field holds at first. Default: nothing.
    /// - Returns: the argument.
    public static func text(_ name: String, default initial: String? = nil) -> CommandArgument {
        CommandArgument(name, .text, initial)
    }

    /// A finite number.
    ///
    /// - Parameters:
    ///   - name: its name in the form and in ``CommandArguments``.
    ///   - range: what it may be. Default: any number.
    ///   - initial: what the field holds at first. Default: nothing.
    /// - Returns: the argument.
    public static func number(
        _ name: String,
        in range: ClosedRange<Double>? = nil,
        default initial: Double? = nil
    ) -> CommandArgument {
        let text = initial.map { $0 == $0.rounded() && abs($0) < 1e15 ? "\(Int64($0))" : "\($0)" }
        return CommandArgument(name, .number(range), text)
    }

    /// Yes or no.
    ///
    /// - Parameters:
    ///   - name: its name in the form and in ``CommandArguments``.
    ///   - initial: what it is at first. Default: no.
    /// - Returns: the argument.
    public static func bool(_ name: String, default initial: Bool = false) -> CommandArgument {
        CommandArgument(name, .bool, "\(initial)")
    }

    /// One of several texts.
    ///
    /// - Parameters:
    ///   - name: its name in the form and in ``CommandArguments``.
    ///   - choices: these texts.
    ///   - initial: which of them is chosen at first. Default: the first.
    /// - Returns: the argument.
    public static func choice(_ name: String, of choices: [String], default initial: String? = nil) -> CommandArgument {
        CommandArgument(name, .choice(choices), initial ?? choices.first)
    }

    /// The same, which may be left out.
    public var optional: CommandArgument {
        var argument = self
        argument.isOptional = true
        return argument
    }

    /// The same, which is masked in the form, in the log and in the list of what has run.
    public var secret: CommandArgument {
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
