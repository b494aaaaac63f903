// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("The uploader's page")
struct UploaderPageTests {
    private static let html = UploaderPage.files.first { $0.name == "index.html" }?.text ?? ""

    private static func text(_ name: String) -> String { UploaderPage.files.first { $0.name == name }?.text ?? "" }

    @Test("Every button says that it doesn't submit, and every field and every icon alone has a name")
    func controls() {
        let html = Self.html
        #expect(html.matches(of: /<button/).count == html.matches(of: /<button type="button"/).count)
        for input in html.matches(of: /<input[^>]+>/) { #expect(input.output.contains("aria-label=\"")) }
        for button in html.matches(of: /<button([^>]+)><\/button>/) {
            let isNamed = button.1.contains("data-label=\"") || button.1.contains("data-say=\"")
            let isNamedByScript = button.1.contains("id=\"uploads-")
            #expect(isNamed || isNamedByScript, "\(button.1)")
        }
    }

    @Test("The places for values are those that the app fills")
    func places() {
        let names = Self.html.matches(of: /{{([a-z]+)}}/).map { String($0.1) }
        let values = ["title", "header", "prologue", "epilogue", "footer", "logo", "piece", "parallel"]
        #expect(Set(names) == Set(values))
    }

    // MARK: The words

    /// The keys of a table, each with the names of the values that its text has places for.
    private func table(_ text: String) -> [String: Set<String>] {
        let entries = text.matches(of: /(\w+): (?:"([^"]*)"|\{\s*one: "[^"]*",\s+other: "([^"]*)",?\s*\})/)
        let pairs = entries.map { entry in
            let words = entry.2 ?? entry.3 ?? ""
            return (String(entry.1), Set(words.matches(of: /\{(\w+)\}/).map { String($0.1) }))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test("English and Chinese have the same keys, with the same values in their texts")
    func sameKeys() {
        let english = table(Self.text("texts-en.js"))
        #expect(english.count > 100)
        #expect(table(Self.text("texts-zh.js")) == english)
    }

    @Test("Every text that the markup names, and each state of an upload, is in the table")
    func keys() {
        let english = table(Self.text("texts-en.js"))
        let names = Self.html.matches(of: /data-(?:text|label|hint|say)="(\w+)"/).map { String($0.1) }
        #expect(names.count > 20)
        let states = ["waiting", "retrying", "asking", "paused", "done", "skipped", "cancelled"].map { "upload_\($0)" }
        for name in names + states { #expect(english[name] != nil, "\(name)") }
    }

    // MARK: The policy

    @Test("The policy allows this origin's files and nothing inline, and a shown file nothing at all")
    func policies() {
        let policy = UploaderPage.contentSecurityPolicy
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "))
        #expect(policy.contains("; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"))
        #expect(!policy.contains("unsafe"))
        let html = UploaderPage.contentSecurityPolicy(ofView: .html)
        #expect(html == "default-src 'none'; frame-ancestors 'self'; sandbox")
        let pdf = UploaderPage.contentSecurityPolicy(ofView: MediaType(rawValue: "application/pdf"))
        #expect(pdf.hasPrefix("default-src 'none'; ") && !pdf.contains("sandbox") && !pdf.contains("script-src"))
    }
}
