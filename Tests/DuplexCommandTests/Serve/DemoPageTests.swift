// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSharing
import Testing

@testable import DuplexCommand

@Suite("The demo page")
struct DemoPageTests {
    @Test("The policy allows this origin's files, forms and WebSockets, and nothing else")
    func policy() {
        #expect(
            DemoPage.contentSecurityPolicy(host: "localhost:8080")
                == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                + "connect-src 'self' ws://localhost:8080 wss://localhost:8080; "
                + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        )
    }

    @Test("The policy leaves out an IPv6 literal, for which it has no syntax")
    func policyOfLiteral() {
        let policy = DemoPage.contentSecurityPolicy(host: "[::1]:8080")
        #expect(policy.contains("; connect-src 'self'; "))
        #expect(!policy.contains("::1"))
    }

    @Test("Every resource goes out with the policy and without guessing of its type")
    func headers() throws {
        let headers = DemoPage.headers(host: "example.com")
        let fields = Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(fields.count == headers.count, "no field twice")
        #expect(fields["Content-Security-Policy"] == DemoPage.contentSecurityPolicy(host: "example.com"))
        #expect(fields["X-Content-Type-Options"] == "nosniff")
        #expect(fields["Cross-Origin-Opener-Policy"] == "same-origin")
        #expect(fields["Cross-Origin-Embedder-Policy"] == "require-corp")
    }

    @Test("The page is at the path that the server chooses, and its files are at the same paths always")
    func paths() {
        let paths = Set(DemoPage.files.map { DemoPage.path(of: $0, page: "/page") })
        #expect(paths.isSuperset(of: ["/page", "/demo/duplex.css", "/demo/duplex.js", "/demo/icon.svg"]))
    }

    @Test("Every close code of RFC 6455 that can reach a page has a name")
    func closeCodes() {
        let codes = DemoPage.text("texts-en.js").matches(of: /close(1\d{3}): "[a-zA-Z ]+"/).compactMap { Int($0.1) }
        #expect(Set(codes) == Set(1000...1015).subtracting([1004, 1014]), "1004 is reserved, 1014 a gateway's")
        let named = DemoPage.text("connection.js").matches(of: /\[(1\d{3}), t\("close(1\d{3})"\)\]/)
        #expect(named.filter { $0.1 == $0.2 }.compactMap { Int($0.1) } == codes)
    }

    @Test("The elements that both panels look for by their own name are in the markup")
    func composedIdentifiers() {
        let script = DemoPage.files.map(\.text).joined()
        let suffixes = script.matches(of: /byId\(`\$\{name\}-([a-z]+)`\)/).map { String($0.1) }
        #expect(suffixes.count == 3)
        for identifier in suffixes.flatMap({ ["echo-\($0)", "chat-\($0)"] }) {
            #expect(DemoPage.text("index.html").contains("id=\"\(identifier)\""), "\(identifier)")
        }
    }

    @Test(
        "The script and the markup name the paths that the server has",
        arguments: [
            ("echo.js", "\"\(DemoPage.echoPath)\""), ("chat.js", "\"\(DemoPage.chatPath)\""),
            ("feed.js", "\"\(DemoPage.eventsPath)\""), ("feed.js", "\"\(DemoPage.logPath)\""),
            ("upload.js", "\"\(DemoPage.uploadPath)\""), ("form.js", "\"\(DemoPage.formPath)\""),
            ("index.html", "action=\"\(DemoPage.formPath)\""), ("index.html", "<code>\(DemoPage.eventsPath)</code>"),
        ]
    )
    func namedPaths(file: String, text: String) {
        #expect(DemoPage.text(file).contains(text))
    }
}

extension DemoPage {
    /// The text of a file; nothing if it isn't there.
    static func text(_ name: String) -> String { files.first { $0.name == name }?.text ?? "" }
}
