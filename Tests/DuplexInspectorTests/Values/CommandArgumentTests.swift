// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Arguments of commands")
struct CommandArgumentTests {
    @Test(
        "The page is told what it makes a field of",
        arguments: [
            (CommandArgument.text("a"), #"{"name":"a","kind":"text"}"#),
            (.text("a", default: "x").optional, #"{"name":"a","kind":"text","initial":"x","optional":true}"#),
            (
                .number("a", in: 0...9, default: 2),
                #"{"name":"a","kind":"number","least":0.0,"most":9.0,"initial":"2"}"#
            ),
            (.number("a", default: 0.5), #"{"name":"a","kind":"number","initial":"0.5"}"#),
            (.number("a", default: .infinity), #"{"name":"a","kind":"number","initial":"inf"}"#),
            (.bool("a"), #"{"name":"a","kind":"bool","initial":"false"}"#),
            (.choice("a", of: ["x", "y"]), #"{"name":"a","kind":"choice","choices":["x","y"],"initial":"x"}"#),
            (.text("a", default: "hush").secret, #"{"name":"a","kind":"text","secret":true}"#),
        ]
    )
    func json(argument: CommandArgument, json: String) {
        #expect(argument.json.text == json)
    }
}
