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
