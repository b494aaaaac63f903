// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Cookies")
struct CookieTests {
    private func cookie(
        _ text: String,
        from url: String = "wss://www.example.com/a/b?q",
        at seconds: Int64 = 100
    ) throws -> Cookie? {
        Cookie(setCookie: text, from: try WebSocketURL(url), at: seconds)
    }

    @Test("The pair and the attributes are read, and what is unknown is passed over")
    func reading() throws {
        let cookie = try #require(
            try cookie(" SID = 31d4d96e==  ; Path=/x; SECURE; HttpOnly; domain=.Example.COM; Max-Age=20; Foo; =; a=b=c")
        )
        #expect(cookie.name == "SID")
        #expect(cookie.value == "31d4d96e==")
        #expect(cookie.path == "/x")
        #expect(cookie.domain == "example.com")
        #expect(!cookie.isHostOnly)
        #expect(cookie.isSecure)
        #expect(cookie.expiry == 120)
    }

    @Test("Without attributes it belongs to the host, to the folder, and to this run")
    func defaults() throws {
        let cookie = try #require(try cookie("a=b"))
        #expect(cookie.domain == "www.example.com")
        #expect(cookie.isHostOnly)
        #expect(cookie.path == "/a")
        #expect(cookie.expiry == nil)
        #expect(!cookie.isSecure)
        #expect(try self.cookie("a=b; path=x")?.path == "/a")
        #expect(try self.cookie("a=b", from: "ws://h")?.path == "/")
    }

    @Test(
        "What is to be ignored is nil",
        arguments: [
            "", "a", "=b", ";a=b", "a=b; domain=other.com", "a=b; domain=com", "a=b; domain=w.example.com",
            "a=b; domain=ample.com", "__Secure-a=b", "__Host-a=b; Secure; path=/; domain=example.com",
            "__Host-a=b; Secure", "a=\u{1}", "a=\(String(repeating: "x", count: 5_000))",
        ]
    )
    func ignoring(text: String) throws {
        #expect(try cookie(text) == nil)
    }

    @Test("The prefixes hold where their rules are kept, and no secure cookie comes without TLS")
    func prefixes() throws {
        #expect(try cookie("__Secure-a=b; Secure") != nil)
        #expect(try cookie("__Host-a=b; Secure; Path=/") != nil)
        #expect(try cookie("a=b; Secure", from: "ws://example.com/") == nil)
    }

    @Test("Max-Age goes before Expires, and what isn't a number or a date changes nothing")
    func expiry() throws {
        #expect(try cookie("a=b; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT")?.expiry == 105)
        #expect(try cookie("a=b; Expires=Thu, 01 Jan 1970 00:01:00 GMT")?.expiry == 60)
        #expect(try cookie("a=b; Max-Age=x; Expires=y")?.expiry == nil)
        #expect(try cookie("a=b; Max-Age=-1")?.expiry == .min)
        #expect(try cookie("a=b; Max-Age=99999999999999999999999")?.expiry == 100 + 400 * 86_400)
    }

    @Test(
        "It goes back where it belongs",
        arguments: [
            ("a=b", "wss://www.example.com/a/c", true), ("a=b", "ws://www.example.com:81/a", true),
            ("a=b", "wss://www.example.com/ab", false), ("a=b", "wss://www.example.com/", false),
            ("a=b", "wss://x.www.example.com/a", false), ("a=b; domain=example.com", "wss://example.com/a/", true),
            ("a=b; domain=example.com", "wss://deep.er.example.com/a?q", true),
            ("a=b; domain=example.com", "wss://badexample.com/a", false),
            ("a=b; Secure", "ws://www.example.com/a", false), ("a=b; Secure", "wss://www.example.com/a", true),
            ("a=b; path=/", "wss://www.example.com/?x", true), ("a=b; Max-Age=0", "wss://www.example.com/a", false),
        ]
    )
    func sending(text: String, url: String, isSent: Bool) throws {
        let cookie = try #require(try cookie(text))
        #expect(cookie.isSent(to: try WebSocketURL(url), at: 100) == isSent)
    }

    @Test("An address has no domains below it")
    func addresses() throws {
        let cookie = try #require(try cookie("a=b; domain=1.2.3.4", from: "ws://1.2.3.4/"))
        #expect(cookie.isHostOnly)
        #expect(try self.cookie("a=b; domain=3.4", from: "ws://1.2.3.4/") == nil)
    }
}

@Suite("Keeping cookies")
struct CookieStoreTests {
    private let url: WebSocketURL

    init() throws {
        url = try WebSocketURL("wss://example.com/a/b")
    }

    @Test("Longer paths go first, then older ones, and expired ones not at all")
    func order() {
        var store = CookieStore()
        store.store(["a=1; path=/", "b=2; path=/a", "c=3; path=/", "d=4; max-age=10"], from: url, at: 0)
        #expect(store.value(for: url, at: 5) == "b=2; d=4; a=1; c=3")
        #expect(store.value(for: url, at: 10) == "b=2; a=1; c=3")
        store.removeAll()
        #expect(store.value(for: url, at: 5) == nil)
    }

    @Test("The same name, domain and path replaces, and one that is over removes")
    func replacing() {
        var store = CookieStore()
        store.store(["a=1", "b=2", "a=3"], from: url, at: 0)
        #expect(store.value(for: url, at: 0) == "a=3; b=2")
        store.store(["a=; max-age=0"], from: url, at: 0)
        #expect(store.value(for: url, at: 0) == "b=2")
    }

    @Test("What TLS has set isn't replaced without it")
    func security() throws {
        var store = CookieStore()
        store.store(["a=1; Secure; path=/"], from: url, at: 0)
        store.store(["a=2; path=/"], from: try WebSocketURL("ws://example.com/"), at: 0)
        #expect(store.value(for: url, at: 0) == "a=1")
    }

    @Test("There are no more than the bounds allow; the oldest go first")
    func bounds() throws {
        var store = CookieStore()
        for index in 0..<60 { store.store(["n\(index)=x"], from: url, at: 0) }
        #expect(store.cookies.count == CookieStore.domainBound)
        #expect(store.cookies.first?.name == "n10")
        for index in 0..<1_100 {
            store.store(["a=b"], from: try WebSocketURL("ws://h\(index).example/"), at: 0)
        }
        #expect(store.cookies.count == CookieStore.bound)
        var other = CookieStore()
        other.store((0..<200).map { "n\($0)=x; path=/\($0)" }, from: url, at: 0)
        #expect(other.cookies.count == CookieStore.fieldBound)
    }
}
