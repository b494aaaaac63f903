// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("Values that the app names")
struct InspectorValuesTests {
    private struct Plan: Codable, Equatable {
        var steps: [Int]
    }

    @Test("What is written is made into the value's type, or refused")
    func conversions() async throws {
        let kept = Mutex((number: 0, plan: Plan(steps: []), mode: "a"))
        var values = InspectorValues()
        values.add("Number", get: { kept.withLock { $0.number } }, set: { new in kept.withLock { $0.number = new } })
        values.addJSON("Plan", get: { kept.withLock { $0.plan } }, set: { new in kept.withLock { $0.plan = new } })
        values.add(
            "Mode",
            choices: ["a", "b"],
            get: { kept.withLock { $0.mode } },
            set: { new in
                kept.withLock { $0.mode = new }
            }
        )
        let entries = values.entries
        #expect(entries.map(\.kind) == [.integer, .json, .choice(["a", "b"])])
        for (entry, good, bad) in zip3(entries, ["5", #"{"steps":[1]}"#, "b"], ["5.5", #"{"steps":1}"#, "c"]) {
            let set = try #require(entry.set)
            try await set(good)
            let problem = await #expect(throws: Problem.self) { try await set(bad) }
            #expect(problem?.status == .badRequest && problem?.detail.contains(bad) == false)
        }
        let found = kept.withLock { $0 }
        #expect(found.number == 5 && found.plan == Plan(steps: [1]) && found.mode == "b")
        #expect(try await entries[1].get() == "{\n  \"steps\" : [\n    1\n  ]\n}")
    }

    private func zip3<A, B, C>(_ a: [A], _ b: [B], _ c: [C]) -> [(A, B, C)] {
        zip(a, zip(b, c)).map { ($0, $1.0, $1.1) }
    }

    @Test("A value without a closure that sets it is shown only, and secrets aren't shown by default")
    func defaults() {
        var values = InspectorValues()
        values.add("Fixed", get: { "a" })
        #expect(values.entries[0].set == nil && values.entries[0].group == "App")
        #expect(values.defaults == [.standard] && values.showsEnvironment && values.showsArguments)
        #expect(!values.showsSecrets && values.timeLimit == .seconds(2))
        values.secretNames.append("colour")
        #expect(values.secrets.isSecret("Colour"))
        values.showsSecrets = true
        #expect(!values.secrets.isSecret("Colour"))
    }
}

@Suite("Values as JSON")
struct AppJSONTests {
    private struct Plan: Codable, Equatable {
        var b: Int
        var a: [String: [Int]]
    }

    @Test("A value comes back, and its text is the same each time")
    func roundTrip() throws {
        let plan = Plan(b: 1, a: ["z": [1], "y": []])
        let text = try AppJSON.text(of: plan)
        #expect(try AppJSON.decode(text) == plan)
        #expect(try AppJSON.text(of: plan) == text)
    }

    @Test(
        "A refusal says what is wrong, and where",
        arguments: [
            (#"{"a":{}}"#, "“b” is missing"), (#"{"b":1,"a":{"z":["x"]}}"#, "(at a.z.Index 0)"),
            (#"{"b":null,"a":{}}"#, "(at b)"), ("{", "That is no such value"),
        ]
    )
    func refusals(text: String, words: String) {
        let problem = #expect(throws: Problem.self) { let _: Plan = try AppJSON.decode(text) }
        #expect(problem?.detail.contains(words) == true, "\(problem?.detail ?? "")")
    }
}
