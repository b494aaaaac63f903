// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The demo page's upload and form")
struct DemoPageFormScriptTests {
    @Test("It sends to the paths that the server has")
    func paths() {
        #expect(DemoPage.formScript.contains("request.open(\"POST\", \"\(DemoPage.uploadPath)\");"))
        #expect(DemoPage.formScript.contains("fetch(\"\(DemoPage.formPath)\", {"))
        #expect(DemoPage.html.contains("method=\"post\" action=\"\(DemoPage.formPath)\""))
    }

    @Test("The script of the page contains it")
    func contained() {
        #expect(DemoPage.script.contains(DemoPage.formScript) && DemoPage.script.contains(DemoPage.feedScript))
    }
}
