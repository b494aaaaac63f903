// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Setting cookies")
struct SetCookieTests {
    @Test("By default scripts can't read it, and other sites' requests don't carry it")
    func defaults() throws {
        #expect(try SetCookie("a", "1").fieldValue == "a=1; Path=/; HttpOnly; SameSite=Lax")
    }

    @Test("Every attribute is written")
    func attributes() throws {
        let cookie = try SetCookie(
            "a",
            "1",
            path: "/x",
            domain: "example.com",
            maximumAge: .seconds(60),
            isSecure: true,
            isHTTPOnly: false,
            sameSite: .strict
        )
        #expect(cookie.fieldValue == "a=1; Path=/x; Domain=example.com; Max-Age=60; Secure; SameSite=Strict")
        #expect(try SetCookie("a", "", maximumAge: .seconds(-1)).fieldValue.contains("Max-Age=0"))
    }

    @Test("What a name or SameSite=None asks for is there, and can't be left out")
    func secure() throws {
        #expect(try SetCookie("a", "1", sameSite: .none).isSecure)
        #expect(try SetCookie("__Secure-a", "1", domain: "example.com").isSecure)
        #expect(try SetCookie("__Host-a", "1").isSecure)
        #expect(throws: SetCookieError.self) { try SetCookie("a", "1", isSecure: false, sameSite: .none) }
        #expect(throws: SetCookieError.self) { try SetCookie("__Host-a", "1", path: "/x") }
        #expect(throws: SetCookieError.self) { try SetCookie("__host-a", "1", domain: "example.com") }
        #expect(throws: SetCookieError.self) { try SetCookie("__Secure-a", "1", isSecure: false) }
    }

    @Test(
        "What can't stand in the field is an error that names the cookie and not its value",
        arguments: [
            ("", "1"), ("a b", "1"), ("a=", "1"), ("a", "x;y"), ("a", "x y"), ("a", "\r\n"), ("a", "\"x\""), ("a", "ä"),
            ("a", "x,y"),
        ]
    )
    func unfit(name: String, value: String) {
        let error = #expect(throws: SetCookieError.self) { try SetCookie(name, value) }
        #expect(value == "1" || error?.description.contains(value) == false)
    }

    @Test(
        "A path is absolute, and no attribute has a semicolon",
        arguments: [("x", nil), ("/a;b", nil), ("/\r\n", nil), ("/", "a;b")] as [(String, String?)]
    )
    func unfitAttributes(path: String, domain: String?) {
        #expect(throws: SetCookieError.self) { try SetCookie("a", "1", path: path, domain: domain) }
    }

    @Test("A cookie that browsers find too long is an error")
    func tooLong() throws {
        _ = try SetCookie("a", String(repeating: "x", count: 4_095))
        #expect(throws: SetCookieError.self) { try SetCookie("a", String(repeating: "x", count: 4_096)) }
    }
}
