// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The demo page's events")
struct DemoPageFeedScriptTests {
    @Test("It reads the paths that the server has", arguments: [DemoPage.eventsPath, DemoPage.logPath])
    func paths(path: String) {
        #expect(DemoPage.feedScript.contains("    \"\(path)\",\n"))
        #expect(DemoPage.html.contains("<code>\(path)</code>"))
    }

    @Test(
        "It reads the members that the server sends",
        arguments: [["number", "after"], ["method", "path", "status", "microseconds", "bytes"]]
    )
    func reading(members: [String]) {
        #expect(DemoPage.feedScript.contains("({ \(members.joined(separator: ", ")) }"))
    }

    @Test("Nothing is read until the reader asks for it: a browser has six connections for all pages of a host")
    func onDemand() {
        #expect(DemoPage.feedScript.matches(of: /new EventSource\(/).count == 1)
        #expect(DemoPage.feedScript.contains("if (this.#source === null) return this.#open();"))
    }
}
