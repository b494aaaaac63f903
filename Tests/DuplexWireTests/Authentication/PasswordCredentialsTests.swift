// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("A name and a password")
struct PasswordCredentialsTests {
    @Test("The examples of RFC 7617 come out as printed there")
    func examples() {
        #expect(
            PasswordCredentials(user: "Aladdin", password: "open sesame").basicValue
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        )
        #expect(PasswordCredentials(user: "test", password: "123\u{A3}").basicValue == "Basic dGVzdDoxMjPCow==")
    }

    @Test(
        "What Basic has no way to say is nil",
        arguments: [("a:b", "c"), ("a", "b\n"), ("\u{0}", ""), ("\u{7F}", "")]
    )
    func unsayable(user: String, password: String) {
        #expect(PasswordCredentials(user: user, password: password).basicValue == nil)
    }

    @Test(
        "They are read from a URL's user information",
        arguments: [
            ("a:b", "a", "b"), ("a", "a", ""), ("a:b:c", "a", "b:c"), ("%40:%3A%20", "@", ": "), (":b", "", "b"),
        ]
    )
    func userInfo(text: String, user: String, password: String) {
        #expect(PasswordCredentials(userInfo: text) == PasswordCredentials(user: user, password: password))
    }

    @Test("Undecodable user information is nil", arguments: ["", "%", "a:%zz", "%00"])
    func undecodable(text: String) {
        #expect(PasswordCredentials(userInfo: text) == nil)
    }

    @Test("The description shows neither")
    func hidden() {
        let text = "\(PasswordCredentials(user: "mia", password: "sesame"))"
        #expect(!text.contains("mia") && !text.contains("sesame"))
    }
}
