// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("The uploader's page")
struct UploaderPageTests {
    private static let scripts = UploaderPage.assets.filter { $0.contentType == .javaScript }
    private static let script = scripts.map(\.body).joined()
    private static let styles = UploaderPage.assets.filter { $0.contentType == .css }.map(\.body).joined()

    // MARK: The markup

    @Test("There is nothing inline: no style, no handler, and one script, which is a module")
    func inline() {
        let html = UploaderPage.html
        #expect(html.firstMatch(of: /<style|\sstyle=|\son[a-z]+=/) == nil)
        #expect(html.matches(of: /<script/).count == 1)
        #expect(html.contains("<script type=\"module\" src=\"assets/app.js\"></script>"))
    }

    @Test("The page and its modules ask for the files that there are, and for each of them")
    func references() {
        let markup = UploaderPage.html.matches(of: /(?:src|href)="assets\/([^"]+)"/).map { String($0.1) }
        let imports = Self.script.matches(of: /from "\.\/([a-z-]+\.js)"/).map { String($0.1) }
        #expect(Set(markup + imports) == Set(UploaderPage.assets.map(\.name)))
        #expect(Set(UploaderPage.assets.map(\.name)).count == UploaderPage.assets.count)
    }

    @Test("Nothing refers to another origin", arguments: UploaderPage.assets.map(\.name))
    func sameOrigin(name: String) throws {
        let body = try #require(UploaderPage.assets.first { $0.name == name }?.body)
        let rest = body.replacing("http://www.w3.org/2000/svg", with: "")
        #expect(rest.firstMatch(of: /[a-z]+:\/\/|["'(]\/\/|@import|url\(/) == nil)
    }

    @Test("Every button says that it doesn't submit, and every field and every icon alone has a name")
    func controls() {
        let html = UploaderPage.html
        #expect(html.matches(of: /<button/).count == html.matches(of: /<button type="button"/).count)
        for input in html.matches(of: /<input[^>]+>/) { #expect(input.output.contains("aria-label=\"")) }
        for button in html.matches(of: /<button([^>]+)><\/button>/) {
            let isNamed = button.1.contains("data-label=\"") || button.1.contains("data-say=\"")
            let isNamedByScript = button.1.contains("id=\"uploads-")
            #expect(isNamed || isNamedByScript, "\(button.1)")
        }
    }

    @Test("A text of the app is escaped, and isn't read for places of others")
    func texts() {
        let page = UploaderPage.html(["title": "<b>\"Files\"</b> & {{footer}}", "footer": "at home"])
        #expect(page.contains("<title>&lt;b&gt;&quot;Files&quot;&lt;/b&gt; &amp; {{footer}}</title>"))
        #expect(page.matches(of: /at home/).count == 1)
        #expect(!page.replacing("{{footer}}", with: "").contains("{{"))
        #expect(UploaderPage.html([:]).contains("<title></title>"))
    }

    @Test("The places for texts are those that are told of")
    func places() {
        let names = UploaderPage.html.matches(of: /{{([a-z]+)}}/).map { String($0.1) }
        let told = ["title", "header", "prologue", "epilogue", "footer", "logo", "piece", "parallel"]
        #expect(Set(names) == Set(told))
    }

    // MARK: The script

    @Test(
        "No text can become markup or code",
        arguments: [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setHTML", "parseFromString", "srcdoc",
            "createContextualFragment", "eval(", "Function(", "import(", "javascript:", "setTimeout(\"",
        ]
    )
    func noMarkup(name: String) {
        #expect(!Self.script.contains(name))
    }

    @Test("The ids that the script looks for are in the markup, but for that of the place, which it makes")
    func identifiers() {
        let names = Self.script.matches(of: /byId\("([a-z-]+)"\)/).map { String($0.1) }
        #expect(names.count > 50)
        for name in Set(names).subtracting(["place"]) {
            #expect(UploaderPage.html.contains("id=\"\(name)\""), "\(name)")
        }
        #expect(UploaderPage.crumbsScript.contains("id: \"place\""))
    }

    // MARK: The words

    /// The keys of a table, each with the names of the values that its text has places for.
    private func table(_ text: String) -> [String: Set<String>] {
        let entries = text.matches(of: /(\w+): (?:"([^"]*)"|\{ one: "[^"]*",\s+other: "([^"]*)" \})/)
        let pairs = entries.map { entry in
            let words = entry.2 ?? entry.3 ?? ""
            return (String(entry.1), Set(words.matches(of: /\{(\w+)\}/).map { String($0.1) }))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    @Test("English and Chinese have the same keys, with the same values in their texts")
    func sameKeys() {
        let english = table(UploaderPage.englishTexts)
        #expect(english.count > 100)
        #expect(table(UploaderPage.chineseTexts) == english)
    }

    @Test("Every text that the script and the markup name is in the table")
    func keys() {
        let english = table(UploaderPage.englishTexts)
        let inScript = Self.script.matches(of: /\bt\("(\w+)"/).map { String($0.1) }
        let inMarkup = UploaderPage.html.matches(of: /data-(?:text|label|hint|say)="(\w+)"/).map { String($0.1) }
        let states = ["waiting", "retrying", "asking", "paused", "done", "skipped", "cancelled"].map { "upload_\($0)" }
        #expect(inScript.count > 60 && inMarkup.count > 20)
        for key in Set(inScript + inMarkup + states) { #expect(english[key] != nil, "\(key)") }
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

    // MARK: The style

    @Test("Every custom property that is used is set, in both themes")
    func properties() throws {
        let used = Set(Self.styles.matches(of: /var\((--[a-z-]+)\)/).map(\.1))
        let themes = Self.styles.matches(of: /:root \{[^}]*\}/).map(\.output)
        try #require(themes.count == 2)
        let set = themes.map { theme in Set(theme.matches(of: /(--[a-z-]+):/).map(\.1)) }
        #expect(used == set[0])
        #expect(set[0].subtracting(set[1]) == ["--sans", "--mono"])
    }

    @Test("Colours appear in the themes only, and motion stops for who wishes so")
    func wishes() {
        let rest = Self.styles.replacing(/:root \{[^}]*\}/, with: "")
        #expect(rest.firstMatch(of: /#[0-9a-f]{3,8}\b\s*[;,]|\brgb|\bhsl/) == nil)
        #expect(Self.styles.contains("@media (prefers-color-scheme: dark)"))
        #expect(Self.styles.contains("@media (prefers-reduced-motion: reduce)"))
    }
}
