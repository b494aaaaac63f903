// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Patterns of topics")
struct TopicPatternsTests {
    private static func matches(_ pattern: String, _ name: String) -> Bool {
        var patterns = TopicPatterns<Int>()
        patterns[pattern] = 1
        return patterns.values(matching: name) == [1]
    }

    @Test(
        "What matches",
        arguments: [
            ("#", "a"), ("#", "a/b/c"), ("+", "a"), ("a/#", "a"), ("a/#", "a/b"), ("a/#", "a/b/c"), ("a/+", "a/b"),
            ("+/b", "a/b"), ("a/+/c", "a/b/c"), ("+/+/#", "a/b"), ("a/+", "a/\u{301}b"), ("$sys/#", "$sys/a"),
            ("a/+", "a/$b"), ("a", "a"),
        ]
    )
    func matching(_ pattern: String, _ name: String) {
        #expect(Self.matches(pattern, name))
    }

    @Test(
        "What doesn't",
        arguments: [
            ("+", "a/b"), ("a/#", "b"), ("a/#", "ab"), ("a/+", "a"), ("a/+", "a/b/c"), ("+/+/#", "a"), ("#", "$sys/a"),
            ("+/a", "$sys/a"), ("a", "b"), ("a/b", "a"), ("a", "a/b"),
        ]
    )
    func notMatching(_ pattern: String, _ name: String) {
        #expect(!Self.matches(pattern, name))
    }

    @Test("A pattern that is taken out leaves nothing")
    func removing() {
        var patterns = TopicPatterns<Int>()
        for (index, pattern) in ["a/+/c", "a/#", "a/+", "#", "+"].enumerated() { patterns[pattern] = index }
        #expect(patterns.count == 5)
        #expect(Set(patterns.values(matching: "a/b/c")) == [0, 1, 3])
        patterns["a/#"] = nil
        patterns["a/#"] = nil
        #expect(patterns.count == 4)
        #expect(patterns["a/#"] == nil)
        #expect(patterns["a/+"] == 2)
        #expect(Set(patterns.values(matching: "a/b/c")) == [0, 3])
        for pattern in ["a/+/c", "a/+", "#", "+"] { patterns[pattern] = nil }
        #expect(patterns.count == 0)
        #expect(patterns.values(matching: "a/b/c") == [])
    }

    /// Whether a name matches, written down as the rules have it.
    private static func plainly(_ pattern: [Substring], _ name: [Substring]) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        if first == "#" { return true }
        guard let segment = name.first, first == "+" || first == segment else { return false }
        return plainly(Array(pattern.dropFirst()), Array(name.dropFirst()))
    }

    @Test("Any patterns and names match as the rules have it", arguments: 0..<50)
    func generated(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func text(_ segments: [String]) -> String {
            (0...Int.random(in: 0..<4, using: &random)).map { _ in segments.randomElement(using: &random) ?? "a" }
                .joined(separator: "/")
        }
        var patterns = TopicPatterns<String>()
        var all: Set<String> = []
        for _ in 0..<40 {
            let pattern = text(["a", "b", "+", "+"]) + (Bool.random(using: &random) ? "/#" : "")
            if Bool.random(using: &random) || all.count < 5 {
                patterns[pattern] = pattern
                all.insert(pattern)
            } else if let gone = all.randomElement(using: &random) {
                patterns[gone] = nil
                all.remove(gone)
            }
        }
        #expect(patterns.count == all.count)
        for _ in 0..<40 {
            let name = text(["a", "b", "c"])
            let expected = all.filter { Self.plainly($0.split(separator: "/"), name.split(separator: "/")) }
            let found = patterns.values(matching: name)
            #expect(Set(found) == expected, "\(name)")
            #expect(found.count == expected.count)
        }
    }
}
