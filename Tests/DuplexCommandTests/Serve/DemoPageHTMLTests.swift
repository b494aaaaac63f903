// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The demo page's markup")
struct DemoPageHTMLTests {
    private let html = DemoPage.text("index.html")

    private func values(of attribute: String) throws -> [String] {
        try html.matches(of: Regex("\\s\(attribute)=\"([^\"]*)\"", as: (Substring, Substring).self)).map {
            String($0.1)
        }
    }

    @Test(
        "The elements that checks rely on are there",
        arguments: [
            "echo-input", "echo-send", "echo-log", "echo-state", "echo-rtt", "chat-name", "chat-input", "chat-send",
            "chat-log", "chat-state", "chat-people", "events-log", "requests-log", "upload-file", "upload-progress",
            "form-form", "form-log",
        ]
    )
    func identifier(_ name: String) throws {
        #expect(try values(of: "id").contains(name))
    }

    @Test("No id is used twice")
    func uniqueIdentifiers() throws {
        let identifiers = try values(of: "id")
        #expect(Set(identifiers).count == identifiers.count)
    }

    @Test("Every field has a label, and every label a field")
    func labels() throws {
        let fields = html.matches(of: /<input id="([^"]+)"/).map { String($0.1) }
        #expect(!fields.isEmpty)
        #expect(try Set(values(of: "for")) == Set(fields))
        #expect(html.matches(of: /<input/).count == fields.count)
    }

    @Test("Every button says whether it submits")
    func buttons() {
        let buttons = html.matches(of: /<button/).count
        #expect(buttons > 0)
        #expect(html.matches(of: /<button type="(?:submit|button)"/).count == buttons)
    }

    @Test("What describes by id names an element that exists")
    func describedBy() throws {
        let identifiers = try values(of: "id")
        let names = try values(of: "aria-labelledby")
        #expect(names.count == 6)
        for name in names {
            #expect(identifiers.contains(name))
        }
    }

    @Test("Messages and states are announced, and the logs can be scrolled with the keyboard")
    func liveRegions() {
        for part in ["echo", "chat"] {
            #expect(html.contains("id=\"\(part)-log\" role=\"log\" aria-live=\"polite\""))
            #expect(html.contains("id=\"\(part)-state\" role=\"status\""))
        }
        #expect(html.matches(of: /role="log"[^>]*tabindex="0"/).count == 5)
    }

    @Test("Every element that opens is closed in order")
    func balance() {
        let empty: Set<Substring> = ["meta", "link", "img", "input"]
        var open: [Substring] = []
        for tag in html.matches(of: /<(\/?)([a-z][a-z0-9]*)/) where !empty.contains(tag.2) {
            if tag.1.isEmpty {
                open.append(tag.2)
            } else {
                #expect(open.popLast() == tag.2)
            }
        }
        #expect(open.isEmpty)
    }
}
