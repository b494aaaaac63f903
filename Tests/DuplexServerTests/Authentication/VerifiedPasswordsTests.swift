// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexServer

@Suite("Credentials that were right a moment ago")
struct VerifiedPasswordsTests {
    private func instant(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    @Test("They are right for a minute, with the same hash, and no others are")
    func lifetime() {
        let verified = VerifiedPasswords()
        let mia = PasswordCredentials(user: "mia", password: "secret")
        #expect(verified.isEmpty && !verified.contains(mia, "hash", at: instant(0)))
        verified.add(mia, "hash", at: instant(0))
        #expect(!verified.isEmpty && verified.contains(mia, "hash", at: instant(59)))
        #expect(!verified.contains(mia, "hash", at: instant(60)))
        #expect(!verified.contains(mia, "another", at: instant(1)))
        for (user, password) in [
            ("mia", "Secret"), ("ann", "secret"), ("mi", "asecret"), ("mia 6 s", "ecret"), ("", ""),
        ] {
            #expect(!verified.contains(PasswordCredentials(user: user, password: password), "hash", at: instant(1)))
        }
    }

    @Test("The last ones are remembered, and no more than the bound")
    func bound() {
        let verified = VerifiedPasswords()
        func credentials(_ number: Int) -> PasswordCredentials { PasswordCredentials(user: "\(number)", password: "x") }
        let count = 3 * VerifiedPasswords.bound
        for number in 0..<count {
            verified.add(credentials(number), "hash", at: Instant(nanoseconds: Int64(number)))
        }
        let there = (0..<count).filter { verified.contains(credentials($0), "hash", at: instant(1)) }
        #expect(there.count <= VerifiedPasswords.bound && there.last == count - 1)
    }
}
