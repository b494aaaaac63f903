// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Foundation
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("The page of values")
struct ValuesRoomTests {
    private struct Refused: Error, CustomStringConvertible {
        let description = "too many"
    }

    private static func wish(_ name: String, _ text: String, _ version: String, in group: String = "App") -> String {
        #"{"group":"\#(group)","name":"\#(name)","text":"\#(text)","version":"\#(version)"}"#
    }

    @Test("A URL with a secret in it is shown without, and never written back so")
    func urls() async throws {
        let log = RecordedLog()
        let address = Mutex("http://u:hush@h/?token=hush")
        try await InspectedApp.run(log.logger) { options in
            options.allowedChanges = [.values]
            options.values.add("Shown", get: { "see http://u:hush@h/?token=hush&x=1" })
            options.values.add("Set", get: { address.withLock { $0 } }, set: { new in address.withLock { $0 = new } })
            options.values.add("Inspector", get: { "x the-token-of-this-test" })
        } _: { app async throws in
            let answer = try await app.get("/values")
            #expect(!answer.text.contains("hush") && !answer.text.contains("the-token-of-this-test"))
            let state = try answer.value(ValuesRoom.State.self)
            #expect(try state.item("App", "Shown").text == "see http://u:••••••@h/?token=••••••&x=1")
            let item = try state.item("App", "Set")
            #expect(item.text == SecretNames.mask)
            let new = Self.wish("Set", "http://h/?token=hush2", item.version)
            #expect(try await app.post("/values/set", new).status == .ok)
            #expect(address.withLock { $0 } == "http://h/?token=hush2")
            let line = try await log.entry(of: "the inspector has changed something")
            #expect(line.metadata["what"]?.contains("hush") == false, "\(line)")
        }
    }

    @Test("Values are set where the app allows it, and the log tells the old and the new one")
    func setting() async throws {
        let limit = Mutex(3)
        let log = RecordedLog()
        try await InspectedApp.run(log.logger) { options in
            options.allowedChanges = [.values]
            options.values.add(
                "Limit",
                get: { limit.withLock { $0 } },
                set: { new in
                    if new > 9 { throw Refused() }
                    limit.withLock { $0 = new }
                }
            )
            options.values.add("API token", get: { "hush" }, set: { _ in })
        } _: { app async throws in
            let state = try await app.get("/values").value(ValuesRoom.State.self)
            let item = try state.item("App", "Limit")
            #expect(item.text == "3")
            #expect(try await app.post("/values/set", Self.wish("Limit", "5", item.version)).status == .ok)
            #expect(limit.withLock { $0 } == 5)
            let line = try await log.entry(of: "the inspector has changed something")
            #expect(line.metadata["what"] == "App, Limit: “3” → “5”" && line.metadata["outcome"] == "200")

            let late = try await app.post("/values/set", Self.wish("Limit", "6", item.version))
            #expect(late.status == .conflict && late.text.contains("is “5” now"))
            #expect(limit.withLock { $0 } == 5)

            let present = try await app.get("/values").value(ValuesRoom.State.self)
            let version = try present.item("App", "Limit").version
            let refused = try await app.post("/values/set", Self.wish("Limit", "10", version))
            #expect(refused.status == .unprocessableContent && refused.text.contains("The app refuses: too many"))
            #expect(try await app.post("/values/set", Self.wish("Limit", "x", version)).status == .badRequest)
            #expect(try await app.post("/values/set", Self.wish("None", "x", version)).status == .notFound)

            let token = try state.item("App", "API token")
            #expect(token.text == SecretNames.mask)
            #expect(try await app.post("/values/set", Self.wish("API token", "new", token.version)).status == .ok)
            let last = try #require(log.entries.last)
            #expect(last.metadata["what"] == "App, API token: •••••• → ••••••")
            #expect(!log.entries.contains { "\($0)".contains("hush") })
        }
    }

    @Test("Nothing is set where the app doesn't allow it, nor what is shown only")
    func readOnly() async throws {
        let wish = Self.wish("Fixed", "b", "")
        try await InspectedApp.run {
            $0.values.add("Fixed", get: { "a" }, set: { _ in Issue.record("it is set") })
        } _: { app async throws in
            for path in ["/values/set", "/values/remove"] {
                #expect(try await app.post(path, wish).status == .forbidden)
            }
        }
        try await InspectedApp.run {
            $0.allowedChanges = [.values]
            $0.values.add("Fixed", get: { "a" })
        } _: { app async throws in
            #expect(try await app.post("/values/set", wish).status == .forbidden)
        }
    }

    @Test("A closure that fails or is late spoils its own value only")
    func failures() async throws {
        var values = InspectorValues()
        values.defaults = []
        // Each closure has a second at least, of the real time, to be called and to end.
        values.timeLimit = .seconds(1_000)
        values.add("Good", get: { 1 })
        values.add("Failing", get: { () throws -> Int in throw Refused() })
        values.add(
            "Late",
            get: { () async throws -> Int in
                try await Task.sleep(for: .seconds(600))
                return 1
            }
        )
        try await TestLoop.run { [values] loop in
            let room = ValuesRoom(values, on: loop.clock)
            let isOver = Mutex(false)
            let state = Task {
                defer { isOver.withLock { $0 = true } }
                return await room.state
            }
            while !isOver.withLock({ $0 }) {
                await useTimers()
                await loop.advance(by: .seconds(1))
            }
            let items = await state.value.groups.flatMap(\.items)
            #expect(items.contains { $0.name == "Good" && $0.kind == "integer" && $0.text == "1" })
            let errors = items.compactMap(\.error)
            #expect(errors.contains("too many"))
            #expect(errors.contains { $0.contains("hasn't answered within 1000.0 seconds") })
        }
    }

    @Test("Settings are set and removed, the environment and the arguments are shown only, and secrets are masked")
    func process() async throws {
        let suite = "duplex-tests-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        defaults.set(7, forKey: "count")
        try await InspectedApp.run { options in
            options.allowedChanges = [.values]
            options.values.defaults = [.named(suite)]
        } _: { app async throws in
            let group = "Settings of \(suite)"
            var state = try await app.get("/values").value(ValuesRoom.State.self)
            #expect(state.groups.map(\.source) == [.defaults, .environment, .arguments])
            let path = try state.item("Environment", "PATH")
            #expect(path.text == ProcessInfo.processInfo.environment["PATH"])
            let shown = Self.wish("PATH", "x", path.version, in: "Environment")
            #expect(try await app.post("/values/set", shown).status == .notFound)
            let count = try state.item(group, "count")
            state = try await app.post("/values/set", Self.wish("count", "8", count.version, in: group)).value(
                ValuesRoom.State.self
            )
            #expect(try state.item(group, "count").text == "8")
            let stale = Self.wish("count", "", count.version, in: group)
            #expect(try await app.post("/values/remove", stale).status == .conflict)
            let version = try state.item(group, "count").version
            #expect(try await app.post("/values/remove", Self.wish("count", "", version, in: group)).status == .ok)
            #expect(InspectorDefaults.named(suite).settings.isEmpty)
        }
    }

    @Test("Whoever watches gets values as they change")
    func watching() async throws {
        let limit = Mutex(3)
        var values = InspectorValues()
        values.add("Limit", get: { limit.withLock { $0 } })
        let room = ValuesRoom(values)
        let topic = LiveState { await room.state }
        let first = try #require(try await topic.news(since: 0, upTo: 1_000))
        #expect(try await topic.news(since: first.position, upTo: 1_000) == nil)
        limit.withLock { $0 = 4 }
        let second = try #require(try await topic.news(since: first.position, upTo: 1_000))
        #expect(second.items.first?.groups.first?.items.map(\.text) == ["4"])
    }
}

extension ValuesRoom.State {
    fileprivate func item(_ group: String, _ name: String) throws -> ValueItem {
        try #require(groups.first { $0.name == group }?.items.first { $0.name == name })
    }
}

@Suite("Values as the page gets them")
struct ValueGroupTests {
    @Test("A secret's text isn't in it")
    func secrets() throws {
        let item = ValueItem("token", value: "hush", isEditable: true, isSecret: true, version: "1")
        #expect(try item.text == SecretNames.mask && !CompactJSON.text(of: item).contains("hush"))
    }

    @Test("A text that is too long is cut, and can't be edited")
    func cuts() {
        let item = ValueItem("a", value: String(repeating: "x", count: 70_000), isEditable: true, version: "1")
        #expect(item.text.count == 65_536 && item.isCut && !item.isEditable)
    }

    @Test("Its JSON says what can be done with it")
    func json() throws {
        let item = ValueItem("a", .choice(["x", "y"]), value: "x", isEditable: true, version: "1")
        let group = ValueGroup(name: "App", source: .app, items: [item, ValueItem("b", .text, error: "late")])
        let text = try CompactJSON.text(of: group)
        #expect(
            text
                == #"{"items":[{"choices":["x","y"],"editable":true,"kind":"choice","name":"a","text":"x","version":"1"},"#
                + #"{"error":"late","kind":"text","name":"b","text":"","version":""}],"name":"App","source":"app"}"#
        )
        #expect(try CompactJSON.value(of: text) == group)
    }
}

@Suite("Versions of values")
struct ValueVersionsTests {
    @Test("A value has its version until it changes, and gets another when it is what it was again")
    func changes() {
        let versions = ValueVersions()
        let first = versions.version(of: "a", in: "App", "token")
        #expect(versions.version(of: "a", in: "App", "token") == first)
        let second = versions.version(of: "b", in: "App", "token")
        #expect(second != first)
        // Otherwise whoever may set a secret finds out what it was.
        #expect(versions.version(of: "a", in: "App", "token") != first)
    }

    @Test("Equal values of others, or of another process, have other versions")
    func others() {
        let versions = ValueVersions()
        let all = [
            versions.version(of: "a", in: "App", "token"), versions.version(of: "a", in: "App", "note"),
            versions.version(of: "a", in: "Other", "token"), ValueVersions().version(of: "a", in: "App", "token"),
        ]
        #expect(Set(all).count == 4)
    }

    @Test("There is a bound to what is kept, beyond which all get new versions")
    func bound() {
        let versions = ValueVersions()
        let first = versions.version(of: "a", in: "App", "token")
        for number in 0..<100_000 { _ = versions.version(of: "a", in: "App", "\(number)") }
        #expect(versions.version(of: "a", in: "App", "token") != first)
    }
}
