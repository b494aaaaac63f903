// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Query items")
struct QueryItemsTests {
    @Test(
        "A query is cut at & and each item at its first =, before they're decoded",
        arguments: [
            ("", []), ("a=1", [("a", "1")]), ("a=1&b=2", [("a", "1"), ("b", "2")]), ("a", [("a", "")]),
            ("a=", [("a", "")]),
            ("=b", [("", "b")]), ("a=b=c", [("a", "b=c")]), ("&&a=1&", [("a", "1")]), ("a+b=c+d%2B", [("a b", "c d+")]),
            ("a%26=%3D", [("a&", "=")]), ("a=1;b=2", [("a", "1;b=2")]),
        ]
    )
    func reading(query: String, expected: [(String, String)]) throws {
        let items = try #require(QueryItems(query))
        #expect(items.elementsEqual(expected.map { QueryItems.Item(name: $0.0, value: $0.1) }))
    }

    @Test("No query has no items")
    func none() {
        #expect(QueryItems(nil)?.isEmpty == true)
    }

    @Test("An item that can't be decoded refuses them all", arguments: ["a=%", "%zz=1", "a=1&b=%FF"])
    func refusing(query: String) {
        #expect(QueryItems(query) == nil)
    }

    @Test("Where a page is shown in any case, items that can't be decoded are left out")
    func readable() {
        let items = QueryItems(readable: "a=%&b=1&%zz=1&c=%FF&d=2&e")
        #expect(items.map(\.name) == ["b", "d", "e"] && items["d"] == "2")
        #expect(QueryItems(readable: nil).isEmpty && QueryItems(readable: "&&").isEmpty)
        #expect(QueryItems(readable: "a&%&c&d", atMost: 3).map(\.name) == ["a", "c"])
    }

    @Test("Values are found by name, the first or all of them")
    func lookup() throws {
        let items = try #require(QueryItems("a=1&b=2&a=3"))
        #expect(items["a"] == "1")
        #expect(items[values: "a"] == ["1", "3"])
        #expect(items["c"] == nil)
        #expect(items.count == 3)
        #expect(items[1].name == "b")
    }

    @Test("Items are bounded in number")
    func bound() {
        #expect(QueryItems("a&b", atMost: 2)?.count == 2)
        #expect(QueryItems("a&b&c", atMost: 2) == nil)
        #expect(QueryItems(String(repeating: "a&", count: 1_001)) == nil)
    }
}
