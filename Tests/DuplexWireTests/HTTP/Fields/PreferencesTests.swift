// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("What a client prefers")
struct PreferencesTests {
    private static func headers(_ name: HTTPField.Name, _ values: [String]) -> HTTPFields {
        var headers = HTTPFields()
        for value in values { headers.append(HTTPField(name: name, value: value)) }
        return headers
    }

    private static func media(_ values: String...) -> MediaPreferences {
        MediaPreferences(headers(.accept, values))
    }

    // MARK: Media types

    @Test("The most specific range decides (the example of RFC 9110 section 12.5.1)")
    func specific() {
        let preferences = Self.media(
            "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5"
        )
        #expect(preferences.weight(of: "text/plain;format=flowed") == 1_000)
        #expect(preferences.weight(of: "text/plain") == 700)
        #expect(preferences.weight(of: "text/html") == 300)
        #expect(preferences.weight(of: "image/jpeg") == 500)
        #expect(preferences.weight(of: "text/plain;format=fixed") == 400)
        #expect(preferences.weight(of: "text/html;level=3") == 300)
    }

    @Test("The offer that is wanted most is taken, and of equals the first")
    func media() {
        #expect(Self.media("text/html, application/json;q=0.9").preferred(of: [.json, .html]) == .html)
        #expect(Self.media("text/html, application/json").preferred(of: [.json, .html]) == .json)
        #expect(Self.media("image/*").preferred(of: [.json, .html]) == nil)
        #expect(Self.media("*/*;q=0").preferred(of: [.json]) == nil)
        #expect(Self.media("text/html;q=0, */*").preferred(of: [.html, .json]) == .json)
        // Several fields are one list.
        #expect(Self.media("image/png", "text/html").preferred(of: [.json, .html]) == .html)
    }

    @Test("Without the field all is acceptable; with an empty one nothing is")
    func absent() {
        #expect(MediaPreferences([:]).preferred(of: [.json, .html]) == .json)
        #expect(Self.media("").preferred(of: [.json]) == nil)
        #expect(LanguagePreferences([:]).weight(of: "de") == 1_000)
        #expect(LanguagePreferences([:]).preferred(of: ["de", "en"]) == "de")
    }

    @Test(
        "A malformed member is passed over, and the others hold",
        arguments: [
            "text/html;q=2", "text/html;q=0.1234", "text/html;q=-1", "text/html;q=", "text/html;q=1.001",
            "text/html;q=a",
            "text/html;q", "text", "/", "text/html x", "text/html;a=\"",
        ]
    )
    func malformed(member: String) {
        let headers = member.hasSuffix("\"") ? ["application/json, \(member)"] : ["\(member), application/json"]
        let preferences = MediaPreferences(Self.headers(.accept, headers))
        #expect(preferences.weight(of: .json) == 1_000)
        #expect(preferences.weight(of: .html) == 0)
    }

    @Test(
        "Weights have up to three digits",
        arguments: [("1", 1_000), ("1.0", 1_000), ("0.5", 500), ("0.001", 1), ("0.", 0)]
    )
    func weights(text: String, weight: Int) {
        #expect(Self.media("text/html;q=\(text)").weight(of: .html) == weight)
    }

    @Test("As many members are read as the bound allows")
    func bounded() {
        let many = (0..<100).map { "a/b\($0)" }.joined(separator: ",")
        let preferences = Self.media(many)
        #expect(preferences.weight(of: "a/b63") == 1_000)
        #expect(preferences.weight(of: "a/b64") == 0)
    }

    // MARK: Codings

    private static func coding(_ value: String?, _ offers: String...) -> String? {
        CodingPreferences(headers(.acceptEncoding, value.map { [$0] } ?? [])).preferred(of: offers)
    }

    @Test("Codings are taken by weight; no coding is acceptable where nothing excludes it")
    func codings() {
        #expect(Self.coding("gzip, deflate, br", "br", "gzip", "identity") == "br")
        #expect(Self.coding("gzip;q=0.5, deflate;q=0.8", "gzip", "deflate", "identity") == "deflate")
        #expect(Self.coding("x-gzip", "gzip", "identity") == "gzip")
        #expect(Self.coding(nil, "gzip", "identity") == "identity")
        #expect(Self.coding("", "gzip", "identity") == "identity")
        #expect(Self.coding("*", "gzip", "identity") == "gzip")
        #expect(Self.coding("gzip;q=0, *", "gzip", "deflate", "identity") == "deflate")
        #expect(Self.coding("br", "gzip", "identity") == "identity")
        #expect(Self.coding("identity;q=0", "gzip", "identity") == nil)
        #expect(Self.coding("*;q=0", "gzip", "identity") == nil)
        #expect(Self.coding("*;q=0, identity;q=0.1", "gzip", "identity") == "identity")
        #expect(Self.coding("gzip;q=0.2, identity;q=0.7", "gzip", "identity") == "identity")
        #expect(Self.coding("GZIP", "gzip", "identity") == "gzip")
    }

    // MARK: Languages

    private static func language(_ value: String, _ offers: String...) -> String? {
        LanguagePreferences(headers(.acceptLanguage, [value])).preferred(of: offers)
    }

    @Test("A language takes in its regions, and the longest range decides")
    func languages() {
        #expect(Self.language("da, en-gb;q=0.8, en;q=0.7", "en", "da") == "da")
        #expect(Self.language("da, en-gb;q=0.8, en;q=0.7", "en-US", "en-GB") == "en-GB")
        #expect(Self.language("de", "en", "de-AT") == "de-AT")
        #expect(Self.language("de-AT", "de") == nil)
        #expect(Self.language("d", "de") == nil)
        #expect(Self.language("*;q=0.1, fr", "de", "fr") == "fr")
        #expect(Self.language("*", "de", "fr") == "de")
        #expect(Self.language("de;q=0, *", "de-CH", "fr") == "fr")
    }
}
