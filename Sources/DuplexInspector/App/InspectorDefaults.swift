// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Foundation

/// Settings of `UserDefaults` that the inspector shows.
@nonexhaustive
public enum InspectorDefaults: Sendable, Hashable {
    /// The app's own settings, `UserDefaults.standard`.
    case standard
    /// The settings of another domain, such as those that an app shares with its extensions, by the name that
    /// `UserDefaults(suiteName:)` takes.
    case named(String)

    /// Its name; `nil` for the app's own.
    var name: String? { if case .named(let name) = self { name } else { nil } }

    /// What the page calls it.
    var title: String { name.map { "Settings of \($0)" } ?? "Settings" }

    private var defaults: UserDefaults? { name.map { UserDefaults(suiteName: $0) } ?? .standard }

    /// What the suite itself holds, without what every app of the machine has.
    private var values: [String: Any] {
        guard let defaults else { return [:] }
        let domain = name ?? Bundle.main.bundleIdentifier
        return domain.flatMap { defaults.persistentDomain(forName: $0) } ?? defaults.dictionaryRepresentation()
    }

    /// The settings, by name.
    var settings: [DefaultsSetting] {
        values.map { DefaultsSetting($0, of: $1) }.sorted { $0.name < $1.name }
    }

    /// The setting of that name; `nil` where there is none.
    func setting(_ name: String) -> DefaultsSetting? { values[name].map { DefaultsSetting(name, of: $0) } }

    /// Sets one, which keeps its kind.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - kind: its kind.
    ///   - text: the new value.
    /// - Throws: `Problem` with 400 for a text that stands for no such value.
    func set(_ name: String, _ kind: ValueKind, to text: String) throws {
        guard let defaults else { throw Problem(.notFound, "There are no such settings.") }
        switch kind {
        case .integer: defaults.set(try Self.value(.integer, text), forKey: name)
        case .number: defaults.set(try Self.value(.number, text), forKey: name)
        case .bool: defaults.set(try Self.value(.bool, text), forKey: name)
        case .json: defaults.set(try Self.propertyList(text), forKey: name)
        case .text, .choice: defaults.set(text, forKey: name)
        }
    }

    /// Removes one.
    func remove(_ name: String) { defaults?.removeObject(forKey: name) }

    private static func value<Value>(_ form: ValueForm<Value>, _ text: String) throws -> Value {
        guard let value = form.value(text) else { throw ValueFault.unfit(text, form.kind) }
        return value
    }

    /// An array or a dictionary that settings can hold.
    private static func propertyList(_ text: String) throws -> Any {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        } catch {
            throw ValueFault.unfit(text, .json)
        }
        guard PropertyListSerialization.propertyList(value, isValidFor: .xml) else {
            throw Problem(.badRequest, "Settings can't hold null.")
        }
        return value
    }
}

/// One setting, as a text.
struct DefaultsSetting {
    let name: String
    let kind: ValueKind
    let text: String
    /// Dates and data are shown, and not written.
    let isEditable: Bool

    init(_ name: String, of value: Any) {
        self.name = name
        (kind, text, isEditable) = Self.read(value)
    }

    private static func read(_ value: Any) -> (ValueKind, String, Bool) {
        if let text = value as? String { return (.text, text, true) }
        if let date = value as? Date { return (.text, date.formatted(.iso8601), false) }
        if let data = value as? Data {
            let digits = Base16.encode(Array(data.prefix(64)))
            return (.text, "\(data.count) bytes: \(digits)\(data.count > 64 ? "…" : "")", false)
        }
        if let number = value as? NSNumber {
            if isBool(number) { return (.bool, "\(number.boolValue)", true) }
            if let whole = Int(exactly: number) { return (.integer, "\(whole)", true) }
            return (.number, "\(number.doubleValue)", true)
        }
        if let json = json(of: value) { return (.json, json.text, true) }
        return (.text, "\(value)", false)
    }

    /// Numbers that are made of `true` and `false` differ from 1 and 0 in JSON, on all systems.
    private static func isBool(_ number: NSNumber) -> Bool {
        guard let whole = Int(exactly: number), whole == 0 || whole == 1 else { return false }
        let data = try? JSONSerialization.data(withJSONObject: [number])
        return data == Data("[true]".utf8) || data == Data("[false]".utf8)
    }

    /// An array or a dictionary, of a shape that no type has, as JSON; `nil` for one with what JSON hasn't, such as dates.
    private static func json(of value: Any) -> JSONText? {
        if let text = value as? String { return .string(text) }
        if let number = value as? NSNumber {
            if isBool(number) { return .bool(number.boolValue) }
            return Int64(exactly: number).map { .integer($0) } ?? .number(number.doubleValue)
        }
        if let items = value as? [Any] {
            let all = items.compactMap { json(of: $0) }
            return all.count == items.count ? .array(all) : nil
        }
        guard let items = value as? [String: Any] else { return nil }
        let members = items.sorted { $0.key < $1.key }
            .compactMap { item in json(of: item.value).map { JSONText.Member(name: item.key, value: $0) } }
        return members.count == items.count ? .object(members) : nil
    }
}
