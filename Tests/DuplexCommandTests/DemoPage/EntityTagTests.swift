// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("Entity tags")
struct EntityTagTests {
    private static let abc = EntityTag(of: Array("abc".utf8))

    @Test("A tag is the SHA-1 of the content, in quotation marks")
    func text() {
        #expect(Self.abc.text == "\"a9993e364706816aba3e25717850c26c9cd0d89d\"")
        #expect(EntityTag(of: []).text == "\"da39a3ee5e6b4b0d3255bfef95601890afd80709\"")
    }

    @Test(
        "A client has the content if one of its tags is the same, weak or strong",
        arguments: [
            ("TAG", true), ("W/TAG", true), ("\"x\", TAG", true), ("\"x\",W/TAG ,\"y\"", true), ("*", true),
            ("\t TAG \t", true), ("", false), ("\"x\"", false), ("w/TAG", false), ("TAGx", false), ("\"*\"", false),
            ("\"a9993e364706816aba3e25717850c26c9cd0d89\"", false), ("\"x,y\"", false),
        ]
    )
    func matching(field: String, isKnown: Bool) {
        var fields = HTTPFields()
        fields[.ifNoneMatch] = field.replacing("TAG", with: Self.abc.text)
        #expect(Self.abc.isKnown(by: fields) == isKnown)
    }

    @Test("Without the field nothing is known")
    func absent() {
        #expect(!Self.abc.isKnown(by: HTTPFields()))
    }
}
