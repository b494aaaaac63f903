// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexCommand

@Suite("The demo page's style")
struct DemoPageStyleTests {
    /// A theme's colours by the names of their custom properties.
    private struct Theme {
        let colours: [String: String]

        init(_ text: Substring) {
            let pairs = text.matches(of: /--([a-z-]+): #([0-9a-f]{6});/).map { (String($0.1), String($0.2)) }
            colours = Dictionary(pairs) { first, _ in first }
        }

        /// The relative luminance of WCAG 2.2.
        func luminance(_ name: String) throws -> Double {
            let number = try #require(colours[name].flatMap { Int($0, radix: 16) }, "no colour \(name)")
            let channels = [16, 8, 0].map { shift in
                let value = Double((number >> shift) & 0xFF) / 255
                return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]
        }

        func contrast(_ one: String, _ other: String) throws -> Double {
            let pair = try [luminance(one), luminance(other)].sorted()
            return (pair[1] + 0.05) / (pair[0] + 0.05)
        }
    }

    /// The two `:root` blocks, light and dark.
    private func themes() throws -> [Theme] {
        let blocks = DemoPage.style.matches(of: /:root \{[^}]*\}/)
        try #require(blocks.count == 2)
        return blocks.map { Theme($0.output) }
    }

    @Test(
        "Text stands out from what is behind it by 4.5 to 1, in both themes",
        arguments: [
            ("ink", "page"), ("ink", "surface"), ("ink", "well"), ("ink", "accent-wash"), ("soft", "page"),
            ("soft", "surface"), ("soft", "well"), ("accent", "surface"), ("accent", "well"), ("on-accent", "accent"),
            ("accent", "accent-wash"), ("on-accent", "accent-strong"),
        ]
    )
    func textContrast(text: String, background: String) throws {
        for theme in try themes() {
            #expect(try theme.contrast(text, background) >= 4.5)
        }
    }

    @Test(
        "The edges of controls and the focus stand out by 3 to 1, in both themes",
        arguments: [("edge", "surface"), ("accent", "page"), ("accent", "surface")]
    )
    func edgeContrast(edge: String, background: String) throws {
        for theme in try themes() {
            #expect(try theme.contrast(edge, background) >= 3)
        }
    }

    @Test("Both themes set the same colours")
    func sameNames() throws {
        let names = try themes().map { Set($0.colours.keys) }
        #expect(names[0] == names[1])
        #expect(names[0].count == 11)
    }

    @Test("Every custom property that is used is set")
    func properties() {
        let style = DemoPage.style
        let used = Set(style.matches(of: /var\((--[a-z-]+)\)/).map(\.1))
        let set = Set(style.matches(of: /(--[a-z-]+):/).map(\.1))
        #expect(used == set)
    }

    @Test("Colours appear in the themes only")
    func coloursInThemes() {
        let rest = DemoPage.style.replacing(/:root \{[^}]*\}/, with: "")
        #expect(rest.firstMatch(of: /#[0-9a-f]{3,8}\b\s*[;,]|rgb|hsl/) == nil)
    }

    @Test("It fetches nothing, and follows the reader's wishes for colour and motion")
    func wishes() {
        #expect(DemoPage.style.firstMatch(of: /@import|url\(|@font-face/) == nil)
        #expect(DemoPage.style.contains("@media (prefers-color-scheme: dark)"))
        #expect(DemoPage.style.contains("@media (prefers-reduced-motion: reduce)"))
    }

    @Test("Every block that opens is closed")
    func balance() {
        var depth = 0
        for character in DemoPage.style where "{}".contains(character) {
            depth += character == "{" ? 1 : -1
            #expect(depth >= 0)
        }
        #expect(depth == 0)
    }
}
