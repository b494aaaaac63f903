// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A value that goes with a request from one that has found it out to those behind: the name of a user, an id.
///
/// ```swift
/// enum Tenant: RequestKey { typealias Value = String }
/// server.use(.before { request in request[Tenant.self] = try tenant(of: request); return nil })
/// server.get("/") { request in "Hello \(request[Tenant.self] ?? "stranger")" }
/// ```
public protocol RequestKey {
    /// The type of the value.
    associatedtype Value: Sendable
}

/// The values that go with a request; none takes no memory.
struct RequestValues: Sendable {
    private var values: [ObjectIdentifier: any Sendable]?

    subscript<Key: RequestKey>(key: Key.Type) -> Key.Value? {
        get { values?[ObjectIdentifier(key)] as? Key.Value }
        set {
            var values = values ?? [:]
            values[ObjectIdentifier(key)] = newValue
            self.values = values.isEmpty ? nil : values
        }
    }
}
