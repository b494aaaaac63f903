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

    @Test(
        "They are read from Authorization, also without padding or with bits after the last byte",
        arguments: [
            ("Basic YTpi", "a", "b"), ("basic  YTpiYw== ", "a", "bc"), ("Basic YTpiYw", "a", "bc"),
            ("Basic YTpiYx==", "a", "bc"), ("Basic YTo=", "a", ""), ("Basic YTo", "a", ""),
        ]
    )
    func basic(value: String, user: String, password: String) {
        #expect(PasswordCredentials(basic: value) == PasswordCredentials(user: user, password: password))
    }

    @Test(
        "Another scheme, and a text that isn't a name with a password in base64, are nil",
        arguments: [
            "", "Basic", "Basic ", "Digest YTpi", "BasicYTpi", "Basic YWI=", "Basic YTpi=", "Basic YTpiY", "Basic /w==",
        ]
    )
    func noBasic(value: String) {
        #expect(PasswordCredentials(basic: value) == nil)
    }

    @Test("The description shows neither")
    func hidden() {
        let text = "\(PasswordCredentials(user: "mia", password: "sesame"))"
        #expect(!text.contains("mia") && !text.contains("sesame"))
    }
}
