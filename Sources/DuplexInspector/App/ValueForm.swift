// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The form of a value on the page: its kind, its text, and the value that a text stands for.
struct ValueForm<Value: Sendable>: Sendable {
    let kind: ValueKind
    /// Writes a value.
    let text: @Sendable (Value) -> String
    /// Reads a text; nil for one that stands for no value.
    let value: @Sendable (String) -> Value?
}

extension ValueForm<String> {
    /// Any text.
    static var text: ValueForm { ValueForm(kind: .text, text: { $0 }, value: { $0 }) }
}

extension ValueForm<Int> {
    /// Digits, with a sign in front of them.
    static var integer: ValueForm { ValueForm(kind: .integer, text: { "\($0)" }, value: { Int($0) }) }
}

extension ValueForm<Double> {
    /// A finite number.
    static var number: ValueForm {
        ValueForm(
            kind: .number,
            text: { "\($0)" },
            value: { text in Double(text).flatMap { $0.isFinite ? $0 : nil } }
        )
    }
}

extension ValueForm<Bool> {
    /// `true` or `false`.
    static var bool: ValueForm { ValueForm(kind: .bool, text: { "\($0)" }, value: { Bool($0) }) }
}

extension ValueForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases, by its text.
    static var choice: ValueForm {
        ValueForm(
            kind: .choice(Value.allCases.map(\.rawValue)),
            text: { $0.rawValue },
            value: { Value(rawValue: $0) }
        )
    }
}

/// How a value is shown and edited.
enum ValueKind: Sendable, Hashable {
    /// Any text.
    case text
    /// A whole number.
    case integer
    /// A number.
    case number
    /// `true` or `false`.
    case bool
    /// One of these.
    case choice([String])
    /// A text of JSON.
    case json

    /// The page's name for it.
    var name: String {
        switch self {
        case .text: "text"
        case .integer: "integer"
        case .number: "number"
        case .bool: "bool"
        case .choice: "choice"
        case .json: "json"
        }
    }
}
