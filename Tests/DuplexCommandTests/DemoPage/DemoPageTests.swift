// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
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

    @Test(
        "A resource is found at its path",
        arguments: [
            ("/", "text/html; charset=utf-8"),
            ("/demo/duplex.css", "text/css; charset=utf-8"),
            ("/demo/duplex.js", "text/javascript; charset=utf-8"),
            ("/demo/icon.svg", "image/svg+xml"),
        ]
    )
    func resource(path: String, contentType: String) throws {
        let resource = try #require(DemoPage.resource(at: path))
        #expect(resource.contentType.rawValue == contentType)
        #expect(!resource.body.isEmpty)
    }

    @Test("There is nothing at other paths", arguments: ["", "/index.html", "/duplex", "//", "/echo", "/chat"])
    func absent(path: String) {
        #expect(DemoPage.resource(at: path) == nil)
    }

    @Test("Whatever the markup refers to is a resource of the page")
    func references() {
        let references = DemoPage.html.matches(of: /(?:src|href)="([^"#]+)"/).map { String($0.1) }
        #expect(references.count == 4, "the icon twice, the style and the script")
        for reference in references {
            #expect(DemoPage.resource(at: reference) != nil, "\(reference)")
        }
    }

    @Test("Nothing refers to another origin", arguments: DemoPage.resources.map(\.path))
    func sameOrigin(path: String) throws {
        let resource = try #require(DemoPage.resource(at: path))
        let namespace = "http://www.w3.org/2000/svg"
        let body = resource.body.replacing(namespace, with: "")
        #expect(body.firstMatch(of: /[a-z]+:\/\/|["'(]\/\//) == nil)
    }
}
