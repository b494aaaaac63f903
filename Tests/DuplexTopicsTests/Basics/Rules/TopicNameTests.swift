// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Names of topics")
struct TopicNameTests {
    @Test(
        "Names",
        arguments: [
            "a", "a/b", "room/42", "prices/gold/eur", "raum/größe", "$presence/a", "a b", "caf\u{E9}", "\u{AC00}",
        ]
    )
    func names(_ name: String) throws {
        #expect(try TopicName.check(name) == false)
    }

    @Test("Patterns", arguments: ["#", "+", "a/#", "a/+", "+/b", "a/+/c", "+/+/#"])
    func patterns(_ name: String) throws {
        #expect(try TopicName.check(name) == true)
    }

    @Test(
        "What is neither",
        arguments: [
            ("", TopicName.Fault.emptySegment), ("/a", .emptySegment), ("a/", .emptySegment), ("a//b", .emptySegment),
            ("a/b+", .misplacedWildcard), ("+a", .misplacedWildcard), ("#/a", .misplacedWildcard),
            ("a/#b", .misplacedWildcard), ("++", .misplacedWildcard), ("##", .misplacedWildcard),
            ("#/", .misplacedWildcard), ("a\u{0}", .controlCharacter), ("a\nb", .controlCharacter),
            ("\u{7F}", .controlCharacter), ("a/+#", .misplacedWildcard), ("\u{212A}itchen", .notNormalized),
            ("cafe\u{301}", .notNormalized), ("a\u{37E}b", .notNormalized), ("+/\u{212A}", .notNormalized),
            ("\u{1100}\u{1161}/#", .notNormalized), ("a/\u{301}b\u{212A}", .notNormalized),
        ]
    )
    func faults(_ name: String, _ fault: TopicName.Fault) {
        #expect(throws: fault) { try TopicName.check(name) }
    }

    @Test("Its length and its segments are bounded")
    func bounds() throws {
        let longest = String(repeating: "a", count: TopicName.longest)
        #expect(try TopicName.check(longest) == false)
        #expect(throws: TopicName.Fault.tooLong) { try TopicName.check(longest + "a") }
        let most = Array(repeating: "a", count: TopicName.mostSegments).joined(separator: "/")
        #expect(try TopicName.check(most) == false)
        #expect(throws: TopicName.Fault.tooManySegments) { try TopicName.check(most + "/a") }
    }

    @Test("Each fault is a sentence")
    func sentences() {
        let faults: [TopicName.Fault] = [
            .emptySegment, .tooLong, .tooManySegments, .controlCharacter, .misplacedWildcard, .notNormalized,
        ]
        #expect(Set(faults.map(\.description)).count == faults.count)
        #expect(faults.allSatisfy { $0.description.hasSuffix(".") })
    }
}
