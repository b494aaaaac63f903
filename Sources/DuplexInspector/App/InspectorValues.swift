// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Foundation

/// The values that an inspector shows: those that the app names, settings, the environment, and the launch arguments.
///
/// ```swift
/// options.values.add("Retry limit", get: { settings.retryLimit }, set: { settings.retryLimit = $0 })
/// ```
///
/// Nothing is read without a viewer. Setting a value on the page needs ``InspectorChange/values``.
public struct InspectorValues: Sendable {
    /// The settings that are shown, all of which may be changed.
    ///
    /// Default: the app's own, `UserDefaults.standard`.
    public var defaults: [InspectorDefaults] = [.standard]
    /// Whether the environment is shown, secrets masked.
    ///
    /// Default: it is.
    public var showsEnvironment = true
    /// Whether the launch arguments are shown, secrets masked.
    ///
    /// Default: they are.
    public var showsArguments = true
    /// What makes a secret of a value that has it in its name, in any case; passwords in URLs are masked whatever their name.
    ///
    /// Default: `token`, `secret`, `password`, `passwd`, `passphrase`, `key`, `credential`, `auth`, `cookie`, `session`,
    /// `private`, `signature`, `salt`, `pin`.
    public var secretNames = SecretNames.standard
    /// Whether secrets are shown to viewers.
    ///
    /// Default: they aren't, and never leave the app.
    public var showsSecrets = false
    /// How long a closure of the app may take to give or to take a value.
    ///
    /// Default: 2 s.
    package var timeLimit = Duration.seconds(2)
    private(set) var entries: [ValueEntry] = []

    /// Makes values of which none are the app's own.
    public init() {}

    var secrets: SecretNames { SecretNames(secretNames, showsSecrets: showsSecrets) }

    /// Adds a text of the app.
    ///
    /// - Parameters:
    ///   - name: the name on the page; each value of a group has another one.
    ///   - group: the heading that it stands under. Default: `App`.
    ///   - isSecret: whether it is masked, whatever its name. Default: no.
    ///   - get: returns the value, each second while somebody looks; on any thread, or on the actor that it names.
    ///   - set: sets the value; an error that it throws is shown. Default: the value is shown only.
    public mutating func add(
        _ name: String,
        in group: String = "App",
        isSecret: Bool = false,
        get: @escaping @Sendable () async throws -> String,
        set: (@Sendable (String) async throws -> Void)? = nil
    ) {
        add(name, in: group, isSecret: isSecret, .text, get, set)
    }

    /// Adds a whole number of the app.
    ///
    /// - Parameters:
    ///   - name: the name on the page; each value of a group has another one.
    ///   - group: the heading that it stands under. Default: `App`.
    ///   - isSecret: whether it is masked, whatever its name. Default: no.
    ///   - get: returns the value, each second while somebody looks; on any thread, or on the actor that it names.
    ///   - set: sets the value; an error that it throws is shown. Default: the value is shown only.
    public mutating func add(
        _ name: String,
        in group: String = "App",
        isSecret: Bool = false,
        get: @escaping @Sendable () async throws -> Int,
        set: (@Sendable (Int) async throws -> Void)? = nil
    ) {
        add(name, in: group, isSecret: isSecret, .integer, get, set)
    }

    /// Adds a number of the app; one that isn't finite can't be written.
    ///
    /// - Parameters:
    ///   - name: the name on the page; each value of a group has another one.
    ///   - group: the heading that it stands under. Default: `App`.
    ///   - isSecret: whether it is masked, whatever its name. Default: no.
    ///   - get: returns the value, each second while somebody looks; on any thread, or on the actor that it names.
    ///   - set: sets the value; an error that it throws is shown. Default: the value is shown only.
    public mutating func add(
        _ name: String,
        in group: String = "App",
        isSecret: Bool = false,
        get: @escaping @Sendable () async throws -> Double,
        set: (@Sendable (Double) async throws -> Void)? = nil
    ) {
        add(name, in: group, isSecret: isSecret, .number, get, set)
    }

    /// Adds a value of the app that is true or false.
    ///
    /// - Parameters:
    ///   - name: the name on the page; each value of a group has another one.
    ///   - group: the heading that it stands under. Default: `App`.
    ///   - isSecret: whether it is masked, whatever its name. Default: no.
    ///   - get: returns the value, each second while somebody looks; on any thread, or on the actor that it names.
    ///   - set: sets the value; an error that it throws is shown. Default: the value is shown only.
    public mutating func add(
        _ name: String,
        in group: String = "App",
        isSecret: Bool = false,
        get: @escaping @Sendable () async throws -> Bool,
        set: (@Sendable (Bool) async throws -> Void)? = nil
    ) {
        add(name, in: group, isSecret: isSecret, .bool, get, set)
    }

    /// Adds a value of the app that is one case of an enumeration of texts, and chosen from a list.
    ///
    /// - Parameters:
    ///   - name: the name on the page; each value of a group has another one.
    ///   - group: the heading that it stands under. Default: `App`.
    ///   - isSecret: whether it is masked, whatever its name. Default: no.
    ///   - get: returns the value, each second while somebody looks; on any thread, or on the actor that it names.
    ///   - set: sets the value; an error that it throws is shown. Default: the value is shown only.
    public mutating func add<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String,
        in group: String = "App",
        isSecret: Bool = false,
        get: @escaping @Sendable () async throws -> Value,
        set: (@Sendable (Value) async throws -> Void)? = nil
    ) where Value.RawValue == String {
        add(name, in: group, isSecret: isSecret, .choice, get, set)
    }

    private mutating func add<Value>(
        _ name: String,
        in group: String,
        isSecret: Bool,
        _ form: ValueForm<Value>,
        _ get: @escaping @Sendable () async throws -> Value,
        _ set: (@Sendable (Value) async throws -> Void)?
    ) {
        let write = set.map { set in
            { @Sendable (text: String) async throws in
                guard let value = form.value(text) else { throw ValueFault.unfit(text, form.kind) }
                try await set(value)
            }
        }
        let read = { @Sendable () async throws in form.text(try await get()) }
        add(ValueEntry(name, in: group, form.kind, isSecret: isSecret, get: read, set: write))
    }

    /// Adds a text of the app that is one of several.
    ///
    /// - Parameters:
    ///   - name: what the page calls it; each of a group has another one.
    ///   - group: the heading that it stands under. Default: `App`.
    ///   - choices: what it may be.
    ///   - get: gives the value, each second while somebody looks.
    ///   - set: sets it to one of the choices; an error that it throws is shown. Default: the value is shown only.
    public mutating func add(
        _ name: String,
        in group: String = "App",
        choices: [String],
        get: @escaping @Sendable () async throws -> String,
        set: (@Sendable (String) async throws -> Void)? = nil
    ) {
        let write = set.map { set in
            { @Sendable (text: String) async throws in
                guard choices.contains(text) else { throw ValueFault.unfit(text, .choice(choices)) }
                try await set(text)
            }
        }
        add(ValueEntry(name, in: group, .choice(choices), isSecret: false, get: get, set: write))
    }

    /// Adds a value of the app that is shown and written as JSON.
    ///
    /// - Parameters:
    ///   - name: what the page calls it; each of a group has another one.
    ///   - group: the heading that it stands under. Default: `App`.
    ///   - get: gives the value, each second while somebody looks.
    ///   - set: sets it; JSON that is none, or no such value, doesn't come here. Default: the value is shown only.
    public mutating func addJSON<Value: Codable & Sendable>(
        _ name: String,
        in group: String = "App",
        get: @escaping @Sendable () async throws -> Value,
        set: (@Sendable (Value) async throws -> Void)? = nil
    ) {
        let write = set.map { set in
            { @Sendable (text: String) async throws in try await set(try AppJSON.decode(text)) }
        }
        let read = { @Sendable () async throws in try AppJSON.text(of: try await get()) }
        add(ValueEntry(name, in: group, .json, isSecret: false, get: read, set: write))
    }

    private mutating func add(_ entry: ValueEntry) {
        precondition(
            !entries.contains { $0.name == entry.name && $0.group == entry.group },
            "There are two values of the name \(entry.name)."
        )
        entries.append(entry)
    }
}

/// A value that the app has named, as a text.
struct ValueEntry: Sendable {
    let name: String
    let group: String
    let kind: ValueKind
    let isSecret: Bool
    let get: @Sendable () async throws -> String
    let set: (@Sendable (String) async throws -> Void)?

    init(
        _ name: String,
        in group: String,
        _ kind: ValueKind,
        isSecret: Bool,
        get: @escaping @Sendable () async throws -> String,
        set: (@Sendable (String) async throws -> Void)?
    ) {
        self.name = name
        self.group = group
        self.kind = kind
        self.isSecret = isSecret
        self.get = get
        self.set = set
    }
}

/// What is wrong with a value that somebody has written.
enum ValueFault {
    /// A text that stands for no value of a kind; it isn't quoted, as it may be a secret.
    static func unfit(_ text: String, _ kind: ValueKind) -> Problem {
        let wanted =
            switch kind {
            case .text: "a text"
            case .integer: "a whole number"
            case .number: "a number"
            case .bool: "true or false"
            case .choice(let choices): "one of \(choices.joined(separator: ", "))"
            case .json: "JSON"
            }
        return Problem(.badRequest, "That isn't \(wanted).")
    }
}

/// Values of the app as JSON, over several lines and in the same order each time.
enum AppJSON {
    /// - Parameter value: any value.
    /// - Returns: its JSON.
    /// - Throws: what encoding it throws.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// - Parameter text: JSON.
    /// - Returns: the value.
    /// - Throws: `Problem` with 400, which says what is wrong.
    static func decode<Value: Decodable>(_ text: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch let error as DecodingError {
            throw Problem(.badRequest, "That is no such value: \(Self.description(of: error))")
        }
    }

    private static func description(of error: DecodingError) -> String {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let found): context = found
        case .valueNotFound(_, let found): context = found
        case .keyNotFound(let key, let found): return "“\(key.stringValue)” is missing\(place(found))."
        case .dataCorrupted(let found): context = found
        @unknown default: return "\(error)"
        }
        return "\(context.debugDescription)\(place(context))"
    }

    private static func place(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? "" : " (at \(path))"
    }
}
