// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The names and values in a query or a form, such as `a=1&b=2`, decoded and in their order.
public struct QueryItems: Sendable, Hashable, RandomAccessCollection {
    /// A name with its value.
    public struct Item: Sendable, Hashable {
        /// The decoded name.
        public let name: String
        /// The decoded value; empty where there is none.
        public let value: String

        /// Makes an item of a decoded name and a decoded value.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var items: [Item] = []

    /// Reads a query as browsers write it (`application/x-www-form-urlencoded` in the WHATWG's URL standard), in which
    /// `+` is a space.
    ///
    /// It is nil if an item can't be decoded, or if there are more items than the bound.
    ///
    /// - Parameters:
    ///   - query: The query as it was sent, such as ``RequestHead/query``; nil for no items.
    ///   - bound: The most items. Default: 1,000.
    public init?(_ query: String?, atMost bound: Int = 1_000) {
        for part in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            guard items.count < bound, let item = Self.item(part) else { return nil }
            items.append(item)
        }
    }

    /// Reads the items of a query that can be decoded, up to the bound, and leaves the others out.
    ///
    /// For pages that are shown in any case: others append items of their own to addresses.
    ///
    /// - Parameters:
    ///   - query: The query as it was sent; nil for no items.
    ///   - bound: The most items that are looked at. Default: 1,000.
    package init(readable query: String?, atMost bound: Int = 1_000) {
        let parts = (query ?? "").utf8.split(separator: UInt8(ascii: "&"), maxSplits: bound)
        items = parts.prefix(bound).compactMap(Self.item)
    }

    private static func item(_ part: Substring.UTF8View) -> Item? {
        let name = part.prefix { $0 != UInt8(ascii: "=") }
        let value = part.dropFirst(name.count + 1)
        guard let name = PercentDecoding.decode(bytes: name, plusIsSpace: true),
            let value = PercentDecoding.decode(bytes: value, plusIsSpace: true)
        else { return nil }
        return Item(name: name, value: value)
    }

    /// The position of the first item.
    public var startIndex: Int { items.startIndex }

    /// The position after the last item.
    public var endIndex: Int { items.endIndex }

    /// The item at that position.
    public subscript(position: Int) -> Item { items[position] }

    /// The value of the first item of that name.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// The values of all items of that name, in their order.
    public subscript(values name: String) -> [String] {
        items.filter { $0.name == name }.map(\.value)
    }
}
