// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The demo page's chat room")
struct DemoPageChatScriptTests {
    @Test("It connects to the path of the room")
    func path() {
        #expect(DemoPage.chatScript.contains("new Connection(\"chat\", \"\(DemoPage.chatPath)\", {"))
    }

    @Test("It sends a name and a text without white space around them")
    func sending() {
        #expect(DemoPage.chatScript.contains("JSON.stringify({ name, text })"))
        #expect(DemoPage.chatScript.contains("this.#name.value.trim(), this.#input.value.trim()"))
    }

    @Test("It reads the members that the room sends", arguments: ["id", "name", "text", "at"])
    func reading(member: String) throws {
        let pattern = /#show\(\{ ([a-z, ]+) \}\)/
        let members = try #require(DemoPage.chatScript.firstMatch(of: pattern)?.1).split(separator: ", ")
        #expect(members.contains(Substring(member)))
    }

    @Test("The script of the page contains it")
    func contained() {
        #expect(DemoPage.script.contains(DemoPage.chatScript))
        #expect(DemoPage.chatScript.contains("new ChatPanel();"))
    }
}
