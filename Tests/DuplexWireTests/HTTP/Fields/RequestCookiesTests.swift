// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Cookies of a request")
struct RequestCookiesTests {
    private static func items(_ values: String...) -> [String] {
        var headers = HTTPFields()
        for value in values { headers.append(HTTPField(name: .cookie, value: value)) }
        return RequestCookies(headers).map { "\($0.name)=\($0.value)" }
    }

    @Test("Cookies come in their order, of one field or of several")
    func reading() {
        #expect(Self.items("a=1; b=2", "c=3") == ["a=1", "b=2", "c=3"])
        #expect(Self.items(" a = 1 ;b=x=y;;") == ["a=1", "b=x=y"])
        #expect(Self.items(#"a="quoted"; b=""; c="; d=""#) == ["a=quoted", "b=", "c=\"", "d=\""])
    }

    @Test("What isn't a name with a value is passed over")
    func passedOver() {
        #expect(Self.items("a; =1; b=2") == ["b=2"])
        #expect(Self.items("").isEmpty)
        #expect(RequestCookies([:]).isEmpty)
    }

    @Test("The first of a name is found")
    func lookup() {
        let cookies = RequestCookies([.cookie: "a=1; a=2"])
        #expect(cookies["a"] == "1" && cookies["b"] == nil && cookies.count == 2)
    }

    @Test("As many are read as the bound allows")
    func bounded() {
        let many = (0..<300).map { "c\($0)=" }.joined(separator: ";")
        #expect(RequestCookies([.cookie: many]).count == RequestCookies.bound)
    }
}
