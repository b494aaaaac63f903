// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The cookies that came with a request, in their order (RFC 6265 section 5.4).
public struct RequestCookies: Sendable, Hashable, RandomAccessCollection {
    /// A name with its value, as they were sent.
    public struct Item: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value, without the quotation marks that may stand around it.
        public let value: String
    }

    /// The most cookies that are read; further ones are passed over.
    package static let bound = 256

    private var items: [Item] = []

    /// Reads the fields; what isn't `name=value` is passed over.
    package init(_ headers: HTTPFields) {
        for value in headers[values: .cookie] {
            for part in value.utf8.split(separator: UInt8(ascii: ";")) where items.count < Self.bound {
                if let item = Self.item(part) { items.append(item) }
            }
        }
    }

    private static func item(_ part: Substring.UTF8View) -> Item? {
        guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = Grammar.trimmed(Substring(part[..<sign]))
        var value = Grammar.trimmed(Substring(part[part.index(after: sign)...]))
        if value.utf8.count >= 2, value.utf8.first == UInt8(ascii: "\""), value.utf8.last == UInt8(ascii: "\"") {
            value = Substring(value.utf8.dropFirst().dropLast())
        }
        return name.isEmpty ? nil : Item(name: String(name), value: String(value))
    }

    /// The position of the first cookie.
    public var startIndex: Int { items.startIndex }

    /// The position after the last cookie.
    public var endIndex: Int { items.endIndex }

    /// The cookie at that position.
    public subscript(position: Int) -> Item { items[position] }

    /// The value of the first cookie of that name: browsers send the one with the longest path first.
    ///
    /// Hazard: whoever controls a neighbouring host may have set it, unless its name begins with `__Host-`.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }
}
