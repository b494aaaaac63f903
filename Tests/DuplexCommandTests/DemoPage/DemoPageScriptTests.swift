// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The demo page's script")
struct DemoPageScriptTests {
    @Test(
        "No text can become markup or code",
        arguments: [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setHTML", "parseFromString",
            "createContextualFragment", "eval(", "Function(", "import(",
        ]
    )
    func noMarkup(name: String) {
        #expect(!DemoPage.script.contains(name))
    }

    @Test("Nothing becomes global", arguments: ["window.", "globalThis", "self.", "var "])
    func noGlobals(name: String) {
        #expect(!DemoPage.script.contains(name))
    }

    @Test("A log keeps 200 messages at most")
    func bound() {
        #expect(DemoPage.script.contains("static limit = 200;"))
        #expect(DemoPage.script.contains("childElementCount > Log.limit"))
    }

    @Test("The ids that it looks for are in the markup")
    func identifiers() {
        let direct = DemoPage.script.matches(of: /byId\("([a-z-]+)"\)/).map { String($0.1) }
        let suffixes = DemoPage.script.matches(of: /byId\(`\$\{name\}-([a-z]+)`\)/).map { String($0.1) }
        let composed = suffixes.flatMap { ["echo-\($0)", "chat-\($0)"] }
        #expect(direct.count > 10)
        #expect(suffixes.count == 3)
        for identifier in direct + composed {
            #expect(DemoPage.html.contains("id=\"\(identifier)\""), "\(identifier)")
        }
    }

    @Test("A connection opens again only where the reader asks for it")
    func noTimers() {
        #expect(DemoPage.script.firstMatch(of: /setTimeout|setInterval|requestAnimationFrame/) == nil)
        #expect(DemoPage.script.matches(of: /new WebSocket\(/).count == 1)
    }

    @Test("Every close code of RFC 6455 that can reach a page has a name")
    func closeCodes() {
        let codes = DemoPage.script.matches(of: /\[(1\d{3}), "[a-zA-Z ]+"\]/).compactMap { Int($0.1) }
        #expect(Set(codes) == Set(1000...1015).subtracting([1004, 1014]), "1004 is reserved, 1014 a gateway's")
    }

    @Test("Every bracket that opens is closed in order")
    func balance() {
        let closing: [Character: Character] = ["(": ")", "[": "]", "{": "}"]
        var expected: [Character] = []
        for character in DemoPage.script {
            if let end = closing[character] {
                expected.append(end)
            } else if closing.values.contains(character) {
                #expect(expected.popLast() == character)
            }
        }
        #expect(expected.isEmpty)
    }
}
