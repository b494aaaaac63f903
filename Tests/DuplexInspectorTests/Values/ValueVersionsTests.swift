// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Versions of values")
struct ValueVersionsTests {
    @Test("A value has its version until it changes, and gets another when it is what it was again")
    func changes() {
        let versions = ValueVersions()
        let first = versions.version(of: "a", in: "App", "token")
        #expect(versions.version(of: "a", in: "App", "token") == first)
        let second = versions.version(of: "b", in: "App", "token")
        #expect(second != first)
        // Otherwise whoever may set a secret finds out what it was.
        #expect(versions.version(of: "a", in: "App", "token") != first)
    }

    @Test("Equal values of others, or of another process, have other versions")
    func others() {
        let versions = ValueVersions()
        let all = [
            versions.version(of: "a", in: "App", "token"), versions.version(of: "a", in: "App", "note"),
            versions.version(of: "a", in: "Other", "token"), ValueVersions().version(of: "a", in: "App", "token"),
        ]
        #expect(Set(all).count == 4)
    }

    @Test("There is a bound to what is kept, beyond which all get new versions")
    func bound() {
        let versions = ValueVersions()
        let first = versions.version(of: "a", in: "App", "token")
        for number in 0..<100_000 { _ = versions.version(of: "a", in: "App", "\(number)") }
        #expect(versions.version(of: "a", in: "App", "token") != first)
    }
}
