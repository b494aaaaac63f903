// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Foundation
import Testing

@testable import DuplexInspector

@Suite("Settings of UserDefaults")
struct InspectorDefaultsTests {
    /// Settings that are gone behind the test.
    private func withSuite(_ body: (InspectorDefaults, UserDefaults) throws -> Void) throws {
        let name = "duplex-tests-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        try body(.named(name), defaults)
    }

    @Test("Each kind of setting is shown as what it is")
    func kinds() throws {
        try withSuite { suite, defaults in
            defaults.set("text", forKey: "text")
            defaults.set(1, forKey: "one")
            defaults.set(2.5, forKey: "number")
            defaults.set(true, forKey: "flag")
            defaults.set(Date(timeIntervalSince1970: 0), forKey: "date")
            defaults.set(Data([1, 255]), forKey: "data")
            defaults.set(["b": [1, "x"], "a": [true]], forKey: "list")
            let shown = suite.settings.map { "\($0.name) \($0.kind.name) \($0.text) \($0.isEditable)" }
            #expect(
                shown == [
                    "data text 2 bytes: 01ff false", "date text 1970-01-01T00:00:00Z false", "flag bool true true",
                    #"list json {"a":[true],"b":[1,"x"]} true"#, "number number 2.5 true", "one integer 1 true",
                    "text text text true",
                ]
            )
        }
    }

    @Test("A setting keeps its kind when it is set, and refuses what is none of that")
    func setting() throws {
        try withSuite { suite, defaults in
            for (kind, text) in [
                (ValueKind.integer, "8"), (.number, "0.5"), (.bool, "true"), (.json, #"{"a":[1]}"#),
                (.text, "x"),
            ] {
                try suite.set("it", kind, to: text)
                let found = try #require(suite.setting("it"))
                #expect(found.kind == kind && found.text == text)
                if kind != .text {
                    let problem = #expect(throws: Problem.self) { try suite.set("it", kind, to: "{") }
                    #expect(problem?.status == .badRequest)
                    #expect(suite.setting("it")?.text == text)
                }
            }
            #expect(throws: Problem.self) { try suite.set("it", .json, to: "[null]") }
            suite.remove("it")
            #expect(suite.setting("it") == nil && suite.settings.isEmpty)
        }
    }
}
