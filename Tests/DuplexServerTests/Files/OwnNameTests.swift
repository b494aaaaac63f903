// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite("Names of what a shared folder keeps for itself")
struct OwnNameTests {
    @Test(
        "They are found in every form that a file system may take for them",
        arguments: [
            ".duplex", ".duplex-1", ".DUPLEX", ".Duplex", ".du\u{AD}plex", "\u{200D}.duplex", ".duplex\u{301}",
            "duplex~1",
            "DUPLEX~2",
        ]
    )
    func own(name: String) {
        #expect(OwnName.isOwn(name))
    }

    @Test("Others aren't", arguments: ["", ".", "duplex", "duplex~", "duplex~a", "a.duplex", ".dup", "d", "é"])
    func others(name: String) {
        #expect(!OwnName.isOwn(name))
    }
}
