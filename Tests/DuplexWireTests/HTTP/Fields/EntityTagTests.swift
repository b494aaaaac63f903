// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Entity tags")
struct EntityTagTests {
    @Test(
        "A tag is read and written",
        arguments: [
            (#""a""#, "a", false), (#"W/"a""#, "a", true), (#""""#, "", false), (#"  "x,y"  "#, "x,y", false),
            (#""back\slash""#, #"back\slash"#, false), (##""#""##, "#", false), (#""!~""#, "!~", false),
        ]
    )
    func reading(value: String, text: String, isWeak: Bool) throws {
        let tag = try #require(EntityTag(field: value))
        #expect(tag.text == text && tag.isWeak == isWeak)
        #expect(EntityTag(field: tag.description) == tag)
    }

    @Test(
        "What is no tag is none",
        arguments: ["", "a", "\"", "\"a", "w/\"a\"", "W/a", "\"a\"b", "\"a b\"", "\"a\u{7F}\""]
    )
    func none(value: String) {
        #expect(EntityTag(field: value) == nil)
    }

    @Test("A text with a quotation mark or a control is no tag", arguments: ["\"", "a b", "\r\n", "\u{7F}"])
    func unfit(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test("Tags are compared as the table of RFC 9110 section 8.8.3.2 has it")
    func comparing() throws {
        let weak = try #require(EntityTag("1", isWeak: true))
        let otherWeak = try #require(EntityTag("2", isWeak: true))
        let strong = try #require(EntityTag("1"))
        #expect(!weak.stronglyMatches(weak) && weak.weaklyMatches(weak))
        #expect(!weak.stronglyMatches(otherWeak) && !weak.weaklyMatches(otherWeak))
        #expect(!weak.stronglyMatches(strong) && weak.weaklyMatches(strong))
        #expect(strong.stronglyMatches(strong) && strong.weaklyMatches(strong))
        // The same to the eye, and not byte by byte.
        let (composed, decomposed) = (try #require(EntityTag("\u{E9}")), try #require(EntityTag("e\u{301}")))
        #expect(!composed.stronglyMatches(decomposed) && !composed.weaklyMatches(decomposed))
    }

    @Test("A list of tags is read, whatever is in them")
    func lists() throws {
        let tags = [try #require(EntityTag("a,b")), try #require(EntityTag("c", isWeak: true))]
        #expect(EntityTagList([#""a,b", ,W/"c""#]) == .tags(tags))
        #expect(EntityTagList([#""a,b""#, #"W/"c""#]) == .tags(tags))
        #expect(EntityTagList([" * "]) == .any)
        #expect(EntityTagList([""]) == .tags([]))
    }

    @Test("A list with anything else is malformed", arguments: ["a", "*, \"a\"", "\"a\" \"b\"", "\"a\", b"])
    func malformed(value: String) {
        #expect(EntityTagList([value]) == nil)
    }

    @Test("So is one with too many")
    func tooMany() {
        let tags = (0..<256).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(EntityTagList([tags]) != nil)
        #expect(EntityTagList([tags, "\"x\""]) == nil)
    }
}
