// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The trees of views that an inspector draws.
public struct InspectorViews: Sendable {
    private(set) var all: [ViewProvider] = []

    /// Makes none.
    public init() {}

    /// Adds a tree.
    ///
    /// The closure is asked once a second while somebody watches live, for all of them together, and never by a second task
    /// while it hasn't returned. Of what it gives are taken 10,000 views, 200 deep, with 8 MiB of texts; the page says what was cut.
    ///
    /// - Parameters:
    ///   - name: what the page calls it; each has another one.
    ///   - limit: how long the closure may take. Default: 5 s.
    ///   - root: gives the tree; off the server's loops, or on the actor that it names, such as `{ @MainActor in … }`.
    public mutating func add(
        _ name: String,
        within limit: Duration = .seconds(5),
        _ root: @escaping @Sendable () async throws -> InspectorView
    ) {
        precondition(!all.contains { $0.name == name }, "There are two trees of the name \(name).")
        all.append(ViewProvider(name: name, limit: limit, root: root))
    }
}

/// A tree as the app gives it.
struct ViewProvider: Sendable {
    let name: String
    let limit: Duration
    let root: @Sendable () async throws -> InspectorView
}
