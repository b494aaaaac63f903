// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The demo page's echo")
struct DemoPageEchoScriptTests {
    @Test("It connects to the path that the server echoes at")
    func path() {
        #expect(DemoPage.echoScript.contains("new Connection(\"echo\", \"\(DemoPage.echoPath)\", {"))
    }

    @Test("As many bars are kept as the drawing has room for, and one measurement fits")
    func bars() throws {
        let limit = try #require(DemoPage.echoScript.firstMatch(of: /static limit = (\d+);/)?.1)
        let height = try #require(DemoPage.echoScript.firstMatch(of: /static height = (\d+);/)?.1)
        #expect(DemoPage.html.contains("viewBox=\"0 0 \(limit) \(height)\""))
        let burst = try #require(DemoPage.echoScript.firstMatch(of: /static burst = (\d+);/)?.1)
        #expect(DemoPage.html.contains("Measure \(burst) trips"))
        #expect(try #require(Int(burst)) <= #require(Int(limit)))
    }

    @Test("The script of the page contains it")
    func contained() {
        #expect(DemoPage.script.contains(DemoPage.echoScript))
        #expect(DemoPage.echoScript.contains("new EchoPanel();"))
    }
}
