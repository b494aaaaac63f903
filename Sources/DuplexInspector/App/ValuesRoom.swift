// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire
import Foundation
import Synchronization

/// The page of settings and values.
final class ValuesRoom: InspectorRoom {
    /// The most values that are shown of one group.
    static let countLimit = 2_000

    private let values: InspectorValues
    private let secrets: SecretNames
    private let entries: [(entry: ValueEntry, call: AppCall<String>)]
    private let clock: any Clock<Duration>
    private let versions = ValueVersions()
    /// What is being set, which isn't set by two at a time.
    private let busy = Mutex<Set<String>>([])

    private struct Wish: Decodable {
        var group: String
        var name: String
        var text: String?
        var version: String
    }

    /// A value as it is before it is set.
    private struct Target {
        let kind: ValueKind
        let text: String
        let isSecret: Bool
        let set: @Sendable (String) async throws -> Void
        var remove: (@Sendable () -> Void)?
    }

    init(_ values: InspectorValues, on clock: any Clock<Duration> = ContinuousClock()) {
        self.values = values
        self.clock = clock
        secrets = values.secrets
        entries = values.entries.map { ($0, AppCall(within: values.timeLimit, on: clock, $0.get)) }
    }

    var page: String { "values" }

    func add(to routes: inout InspectorRoutes) {
        routes.get("/values") { [self] _ in try InspectorAnswer.json(await state) }
        routes.watch("values") { [self] _ in LiveState { [self] in await state } }
        routes.change(.values, "/values/set") { [self] request, note in
            let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
            guard let text = wish.text else { throw Problem(.badRequest, "There is no new value.") }
            try await change(wish, note) { target in
                note.says("\(wish.group), \(wish.name): \(shown(target.text, target)) → \(shown(text, target))")
                let call = AppCall(within: values.timeLimit, on: clock) { try await target.set(text) }
                do {
                    try await call.value()
                } catch let problem as Problem {
                    throw problem
                } catch {
                    throw Problem(.unprocessableContent, "The app refuses: \(AppFailure.text(of: error))")
                }
            }
            return try InspectorAnswer.json(await state)
        }
        routes.change(.values, "/values/remove") { [self] request, note in
            let wish = try await request.decode(Wish.self, decoder: CompactJSON.decoder)
            try await change(wish, note) { target in
                guard let remove = target.remove else { throw Problem(.badRequest, "That can't be removed.") }
                note.says("\(wish.group), \(wish.name): \(shown(target.text, target)), removed")
                remove()
            }
            return try InspectorAnswer.json(await state)
        }
    }

    // MARK: Reading

    /// All that the page shows.
    struct State: Codable, Hashable, Sendable {
        var groups: [ValueGroup]
    }

    var state: State {
        get async { State(groups: await appGroups + defaultsGroups + processGroups) }
    }

    private var appGroups: [ValueGroup] {
        get async {
            let items = await withTaskGroup(of: (Int, ValueItem).self) { tasks in
                for (index, one) in entries.enumerated() { tasks.addTask { (index, await self.item(of: one)) } }
                var items = [ValueItem?](repeating: nil, count: entries.count)
                for await (index, item) in tasks { items[index] = item }
                return items.compactMap { $0 }
            }
            var names: [String] = []
            for one in entries where !names.contains(one.entry.group) { names.append(one.entry.group) }
            return names.map { name in
                let all = zip(entries, items).filter { $0.0.entry.group == name }.map { $0.1 }
                return ValueGroup(name: name, source: .app, items: all)
            }
        }
    }

    private func item(of one: (entry: ValueEntry, call: AppCall<String>)) async -> ValueItem {
        let entry = one.entry
        do {
            let text = try await one.call.value()
            return item(
                entry.group,
                entry.name,
                entry.kind,
                text,
                isEditable: entry.set != nil,
                isSecret: isSecret(entry)
            )
        } catch {
            return ValueItem(entry.name, entry.kind, error: AppFailure.text(of: error))
        }
    }

    /// A value as the page gets it.
    ///
    /// One that can be edited and has a secret in it is a secret as a whole: nobody is to write back what stands for that.
    private func item(
        _ group: String,
        _ name: String,
        _ kind: ValueKind,
        _ text: String,
        isEditable: Bool,
        isSecret: Bool
    ) -> ValueItem {
        let shown = secrets.masking(text)
        let isSecret = isSecret || isEditable && shown != text
        let value = isEditable || isSecret ? text : shown
        return ValueItem(
            name,
            kind,
            value: value,
            isEditable: isEditable,
            isSecret: isSecret,
            version: versions.version(of: text, in: group, name)
        )
    }

    private func isSecret(_ entry: ValueEntry) -> Bool {
        !values.showsSecrets && (entry.isSecret || secrets.isSecret(entry.name))
    }

    private var defaultsGroups: [ValueGroup] {
        values.defaults.map { suite in
            let items = suite.settings.prefix(Self.countLimit).map { setting in
                item(
                    suite.title,
                    setting.name,
                    setting.kind,
                    setting.text,
                    isEditable: setting.isEditable,
                    isSecret: secrets.isSecret(setting.name)
                )
            }
            return ValueGroup(name: suite.title, source: .defaults, items: items)
        }
    }

    private var processGroups: [ValueGroup] {
        var groups: [ValueGroup] = []
        if values.showsEnvironment {
            let variables = ProcessInfo.processInfo.environment.sorted { $0.key < $1.key }.prefix(Self.countLimit)
            let items = variables.map { name, value in
                let isSecret = secrets.isSecret(name)
                let version = versions.version(of: value, in: "Environment", name)
                return ValueItem(name, value: secrets.masking(value), isSecret: isSecret, version: version)
            }
            groups.append(ValueGroup(name: "Environment", source: .environment, items: items))
        }
        if values.showsArguments {
            let arguments = secrets.masking(ProcessInfo.processInfo.arguments).prefix(Self.countLimit)
            let items = arguments.enumerated().map { number, value in
                let version = versions.version(of: value, in: "Launch arguments", "\(number)")
                return ValueItem("\(number)", value: value, version: version)
            }
            groups.append(ValueGroup(name: "Launch arguments", source: .arguments, items: items))
        }
        return groups
    }

    // MARK: Changing

    /// Changes a value that is still what the page has shown, and that no other request is changing.
    private func change(_ wish: Wish, _ note: ChangeNote, _ body: (Target) async throws -> Void) async throws {
        note.says("\(wish.group), \(wish.name)")
        let key = "\(wish.group)\u{0}\(wish.name)"
        guard busy.withLock({ $0.insert(key).inserted }) else {
            throw Problem(.conflict, "Somebody else is changing it.")
        }
        defer { busy.withLock { _ = $0.remove(key) } }
        let target = try await target(wish)
        guard versions.version(of: target.text, in: wish.group, wish.name) == wish.version else {
            throw Problem(.conflict, "It has changed meanwhile, and is \(shown(target.text, target)) now.")
        }
        try await body(target)
    }

    private func target(_ wish: Wish) async throws -> Target {
        if let one = entries.first(where: { $0.entry.group == wish.group && $0.entry.name == wish.name }) {
            guard let set = one.entry.set else { throw Problem(.forbidden, "That value is shown only.") }
            let text = try await one.call.value()
            return Target(kind: one.entry.kind, text: text, isSecret: isSecret(one.entry), set: set)
        }
        guard let suite = values.defaults.first(where: { $0.title == wish.group }),
            let setting = suite.setting(wish.name)
        else { throw Problem(.notFound, "There is no such value.") }
        return Target(
            kind: setting.kind,
            text: setting.text,
            isSecret: secrets.isSecret(setting.name),
            set: { text in
                guard setting.isEditable else { throw Problem(.forbidden, "That kind of value is shown only.") }
                try suite.set(setting.name, setting.kind, to: text)
            },
            remove: { suite.remove(setting.name) }
        )
    }

    /// A value in the log and in refusals: masked where it is a secret, and not longer than a line.
    private func shown(_ text: String, _ target: Target) -> String {
        if target.isSecret { return SecretNames.mask }
        let text = secrets.masking(text)
        return text.utf8.count > 200 ? "“\(text.prefix(200))…”" : "“\(text)”"
    }
}

/// Values under one heading, as the page gets them.
struct ValueGroup: Codable, Hashable, Sendable {
    /// Where values come from.
    enum Source: String, Codable, Sendable {
        case app
        case defaults
        case environment
        case arguments
    }

    let name: String
    let source: Source
    let items: [ValueItem]
}

/// One value, as the page gets it.
struct ValueItem: Codable, Hashable, Sendable {
    /// The longest text that is shown; a longer one is cut, and can't be edited.
    static let limit = 65_536

    let name: String
    let kind: String
    /// The texts of a choice.
    private(set) var choices: [String]?
    /// What is shown; the mask of a secret.
    var text = ""
    /// Of what the value was, to detect changes since.
    var version = ""
    var isEditable: Bool { editable == true }
    var isSecret: Bool { secret == true }
    var isCut: Bool { cut == true }
    /// The page gets these if they are true.
    private var editable: Bool?
    private var secret: Bool?
    private var cut: Bool?
    /// Why there is no value.
    var error: String?

    /// - Parameters:
    ///   - name: its name.
    ///   - kind: its kind.
    ///   - value: the value.
    ///   - isEditable: whether it can be set.
    ///   - isSecret: whether it is masked.
    ///   - version: of the value.
    init(
        _ name: String,
        _ kind: ValueKind = .text,
        value: String,
        isEditable: Bool = false,
        isSecret: Bool = false,
        version: String
    ) {
        self.init(name, kind)
        let isCut = value.utf8.count > Self.limit
        if isSecret { secret = true }
        if isCut { cut = true }
        if isEditable, !isCut { editable = true }
        text = isSecret ? SecretNames.mask : isCut ? String(value.prefix(Self.limit)) : value
        self.version = version
    }

    /// A value that couldn't be had.
    init(_ name: String, _ kind: ValueKind, error: String) {
        self.init(name, kind)
        self.error = error
    }

    private init(_ name: String, _ kind: ValueKind) {
        self.name = name
        self.kind = kind.name
        if case .choice(let choices) = kind { self.choices = choices }
    }
}

/// Numbers for what values are, by which a page tells that one has changed.
///
/// A number is given once: it says nothing about a value, not even that it is what it was before. A hash of the value would: whoever
/// may set one to a guess could compare it with that of a secret.
final class ValueVersions: Sendable {
    private struct Key: Hashable {
        let group: String
        let name: String
    }

    private struct Seen {
        let digest: Int
        let number: UInt64
    }

    private struct State {
        var last: UInt64 = 0
        var seen: [Key: Seen] = [:]
    }

    /// Beyond these all get new numbers.
    private static let bound = 100_000

    /// Numbers of an earlier process are none of this one's.
    private let prefix = String(RandomText.hexadecimal().prefix(12))
    private let state = Mutex(State())

    /// The version of a value that is this now: the same as long as that is what it has been.
    func version(of value: String, in group: String, _ name: String) -> String {
        let (key, digest) = (Key(group: group, name: name), Self.digest(value))
        let number = state.withLock { state -> UInt64 in
            if let seen = state.seen[key], seen.digest == digest { return seen.number }
            if state.seen.count >= Self.bound { state.seen = [:] }
            state.last += 1
            state.seen[key] = Seen(digest: digest, number: state.last)
            return state.last
        }
        return "\(prefix)-\(number)"
    }

    /// With a secret of this process.
    private static func digest(_ value: String) -> Int {
        var hasher = Hasher()
        hasher.combine(value)
        return hasher.finalize()
    }
}
