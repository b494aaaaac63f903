// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

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
