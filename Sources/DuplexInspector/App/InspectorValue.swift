// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How a value is shown and edited.
public enum InspectorValueKind: Sendable, Hashable {
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

/// A value that the inspector's page can show, and make anew out of what somebody has written there.
///
/// `String`, `Int`, `Double` and `Bool` are such; an enumeration of texts becomes one by `extension Level: InspectorValue {}`,
/// and is chosen from a list then.
public protocol InspectorValue: Sendable {
    /// How it is shown and edited.
    static var inspectorKind: InspectorValueKind { get }
    /// The value as the page shows it.
    var inspectorText: String { get }
    /// Makes a value out of a text; `nil` for one that stands for none.
    init?(inspectorText text: String)
}

extension String: InspectorValue {
    /// Any text.
    public static var inspectorKind: InspectorValueKind { .text }
    /// The text itself.
    public var inspectorText: String { self }
    /// Takes any text.
    public init?(inspectorText text: String) { self = text }
}

extension Int: InspectorValue {
    /// A whole number.
    public static var inspectorKind: InspectorValueKind { .integer }
    /// Its digits.
    public var inspectorText: String { "\(self)" }
    /// Takes digits, with a sign in front of them.
    public init?(inspectorText text: String) { self.init(text) }
}

extension Double: InspectorValue {
    /// A number.
    public static var inspectorKind: InspectorValueKind { .number }
    /// As Swift writes it.
    public var inspectorText: String { "\(self)" }
    /// Takes a finite number.
    public init?(inspectorText text: String) {
        guard let number = Double(text), number.isFinite else { return nil }
        self = number
    }
}

extension Bool: InspectorValue {
    /// `true` or `false`.
    public static var inspectorKind: InspectorValueKind { .bool }
    /// `true` or `false`.
    public var inspectorText: String { "\(self)" }
    /// Takes `true` and `false`.
    public init?(inspectorText text: String) { self.init(text) }
}

extension InspectorValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// One of the cases.
    public static var inspectorKind: InspectorValueKind { .choice(allCases.map(\.rawValue)) }
    /// The case's text.
    public var inspectorText: String { rawValue }
    /// Takes a case's text.
    public init?(inspectorText text: String) { self.init(rawValue: text) }
}
