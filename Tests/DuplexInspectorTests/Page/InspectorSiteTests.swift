// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSharing
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("The inspector's page")
struct InspectorSiteTests {
    private static let scripts = InspectorSite.assets.filter { $0.contentType == .javaScript }

    @Test("There is nothing inline: no style, no handler, and one script, which is a module")
    func inline() {
        let html = InspectorSite.html
        #expect(html.firstMatch(of: /<style|\sstyle=|\son[a-z]+=/) == nil)
        #expect(html.matches(of: /<script/).count == 1)
    }

    @Test("The page and its modules ask for the files that there are, and for each of them")
    func references() {
        let markup = InspectorSite.html.matches(of: /(?:src|href)="assets\/([^"]+)"/).map { String($0.1) }
        let script = Self.scripts.map(\.body).joined()
        let imports = script.matches(of: #/from "\./([a-z-]+\.js)"/#).map { String($0.1) }
        // The parts are asked for by their names.
        let parts = Set(script.matches(of: #/^    ([a-z]+): . title:/#.anchorsMatchLineEndings()).map { "\($0.1).js" })
        let names = Set(InspectorSite.assets.map(\.name))
        #expect(names.count == InspectorSite.assets.count)
        #expect(Set(markup + imports).isSubset(of: names))
        #expect(names.subtracting(markup + imports).isSubset(of: parts))
    }

    @Test("Nothing refers to another origin", arguments: InspectorSite.assets.map(\.name))
    func sameOrigin(name: String) throws {
        let body = try #require(InspectorSite.assets.first { $0.name == name }?.body)
        let rest = body.replacing("http://www.w3.org/2000/svg", with: "")
        #expect(rest.firstMatch(of: /https?:\/\/[a-z]|["'(]\/\/|@import|url\(/) == nil)
    }

    @Test(
        "No text can become markup or code",
        arguments: [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setHTML", "parseFromString", "srcdoc",
            "createContextualFragment", "eval(", "Function(", "javascript:", "setTimeout(\"",
        ]
    )
    func noMarkup(name: String) {
        for script in Self.scripts { #expect(!script.body.contains(name), "\(script.name)") }
    }
}
