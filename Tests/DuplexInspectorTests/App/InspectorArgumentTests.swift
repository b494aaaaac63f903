// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Arguments of commands")
struct InspectorArgumentTests {
    @Test(
        "The page is told what it makes a field of",
        arguments: [
            (InspectorArgument.text("a"), #"{"kind":"text","name":"a"}"#),
            (.text("a", default: "x").optional, #"{"initial":"x","kind":"text","name":"a","optional":true}"#),
            (.number("a", in: 0...9, default: 2), #"{"initial":"2","kind":"number","least":0,"most":9,"name":"a"}"#),
            (.number("a", in: 0...(.infinity)), #"{"kind":"number","least":0,"most":null,"name":"a"}"#),
            (.number("a", default: 0.5), #"{"initial":"0.5","kind":"number","name":"a"}"#),
            (.number("a", default: .infinity), #"{"initial":"inf","kind":"number","name":"a"}"#),
            (.bool("a"), #"{"initial":"false","kind":"bool","name":"a"}"#),
            (.choice("a", of: ["x", "y"]), #"{"choices":["x","y"],"initial":"x","kind":"choice","name":"a"}"#),
            (.text("a", default: "hush").secret, #"{"kind":"text","name":"a","secret":true}"#),
        ]
    )
    func field(argument: InspectorArgument, json: String) throws {
        #expect(try CompactJSON.text(of: argument.field) == json)
    }
}

@Suite("What was filled into a command's form")
struct InspectorArgumentsTests {
    private static let wanted: [InspectorArgument] = [
        .text("text"), .number("number", in: 0...9, default: 2), .bool("flag"), .choice("mode", of: ["a", "b"]),
        .number("other").optional, .text("token").optional.secret,
    ]

    @Test("Each is had as its type, and defaults stand in for what is left out")
    func values() throws {
        let texts = ["text": "x", "number": "2.9", "flag": "true", "mode": "b", "token": "hush"]
        let given = try InspectorArguments(texts, for: Self.wanted)
        #expect(given.text("text") == "x" && given.number("number") == 2.9 && given.integer("number") == 2)
        #expect(given.bool("flag") && given.text("mode") == "b" && given.number("other") == nil)
        #expect(given.text("none") == nil && !given.bool("none"))
        let shown = given.shown(Self.wanted).map { "\($0.name)=\($0.text)" }
        #expect(shown == ["text=x", "number=2.9", "flag=true", "mode=b", "token=••••••"])

        let least = try InspectorArguments(["text": ""], for: Self.wanted)
        #expect(least.text("text") == "" && least.number("number") == 2 && !least.bool("flag"))
        #expect(least.text("mode") == "a")
    }

    @Test(
        "What doesn't fit is refused, by the name of the argument",
        arguments: [
            ([:], "“text” is missing."), (["text": "x", "number": "10"], "“number” isn't from 0.0 to 9.0."),
            (["text": "x", "number": "nan"], "“number” is no number."),
            (["text": "x", "flag": "1"], "“flag” is neither"),
            (["text": "x", "mode": "c"], "“mode” is none of the choices."),
            (["text": "x", "more": ""], "no argument “more”"),
            (["text": String(repeating: "x", count: 65_537)], "longer than 64 KiB"),
            (["text": "x", "number": ""], "“number” is missing"),
        ]
    )
    func refusals(texts: [String: String], words: String) {
        let problem = #expect(throws: Problem.self) { try InspectorArguments(texts, for: Self.wanted) }
        #expect(problem?.status == .badRequest && problem?.detail.contains(words) == true, "\(problem?.detail ?? "")")
    }

    @Test("A number that no whole one holds is none")
    func large() throws {
        let given = try InspectorArguments(["n": "1e300"], for: [.number("n")])
        #expect(given.integer("n") == nil && given.number("n") == 1e300)
    }
}
