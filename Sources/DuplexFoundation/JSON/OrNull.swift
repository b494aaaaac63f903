// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A member that is null in JSON if it has no value.
///
/// Other optional members are left out then.
@propertyWrapper
package struct OrNull<Value> {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }
}

extension OrNull: Sendable where Value: Sendable {}
extension OrNull: Equatable where Value: Equatable {}
extension OrNull: Hashable where Value: Hashable {}

extension OrNull: Encodable where Value: Encodable {
    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension OrNull: Decodable where Value: Decodable {
    package init(from decoder: any Decoder) throws { wrappedValue = try Value?(from: decoder) }
}
