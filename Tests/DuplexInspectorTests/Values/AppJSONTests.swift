// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Testing

@testable import DuplexInspector

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
