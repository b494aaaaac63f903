// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("A name and a password on the command line")
struct PasswordArgumentTests {
    @Test("What stands behind the first colon is the password")
    func reading() throws {
        let argument = try #require(PasswordArgument(argument: "ann:a:b c"))
        #expect(argument.user == "ann" && argument.password == "a:b c")
    }

    @Test("Neither may be missing", arguments: ["", "ann", ":", ":secret", "ann:"])
    func refused(text: String) {
        #expect(PasswordArgument(argument: text) == nil)
    }
}
