// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
import Testing

@testable import DuplexSharing

@Suite("The colours of the web pages")
struct PaletteTests {
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
    private static let themes: [Theme] = {
        let base = PageFile.files(in: "shared").first { $0.name == "base.css" }?.text ?? ""
        return base.matches(of: /:root \{[^}]*\}/).map { Theme($0.output) }
    }()

    /// All styles of a page.
    private static func style(of page: String) -> String {
        PageFile.all(in: page).filter { $0.contentType == .css }.map(\.text).joined()
    }

    @Test("There are two themes, which set the same colours")
    func sameNames() throws {
        try #require(Self.themes.count == 2)
        #expect(Set(Self.themes[0].colours.keys) == Set(Self.themes[1].colours.keys))
        #expect(Self.themes[0].colours.count > 10)
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
        for theme in Self.themes {
            #expect(try theme.contrast(text, background) >= 4.5)
        }
    }

    @Test(
        "The edges of controls and the focus stand out by 3 to 1, in both themes",
        arguments: [("edge", "surface"), ("accent", "page"), ("accent", "surface")]
    )
    func edgeContrast(edge: String, background: String) throws {
        for theme in Self.themes {
            #expect(try theme.contrast(edge, background) >= 3)
        }
    }

    @Test("Every custom property that is used is set", arguments: ["demo", "inspector", "uploader"])
    func properties(page: String) {
        let style = Self.style(of: page)
        let used = Set(style.matches(of: /var\((--[a-z-]+)\)/).map(\.1))
        #expect(used.subtracting(style.matches(of: /(--[a-z-]+):/).map(\.1)) == [])
    }
}
