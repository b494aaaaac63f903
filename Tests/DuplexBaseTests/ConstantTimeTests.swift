// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Comparing secrets")
struct ConstantTimeTests {
    @Test(
        "Only the same bytes are the same",
        arguments: [
            ("", "", true), ("a", "a", true), ("abc", "abc", true), ("abc", "abd", false), ("abc", "ab", false),
            ("ab", "abc", false), ("", "a", false), ("a", "", false), ("ab", "abab", false), ("abab", "ab", false),
        ]
    )
    func comparing(secret: String, guess: String, areSame: Bool) {
        #expect(ConstantTime.areSame(Array(secret.utf8), Array(guess.utf8)) == areSame)
    }
}
