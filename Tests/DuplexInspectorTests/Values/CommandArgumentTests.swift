// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Arguments of commands")
struct CommandArgumentTests {
    @Test(
        "The page is told what it makes a field of",
        arguments: [
            (CommandArgument.text("a"), #"{"kind":"text","name":"a"}"#),
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
    func field(argument: CommandArgument, json: String) throws {
        #expect(try CompactJSON.text(of: argument.field) == json)
    }
}
