// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What the parameters of a route's path stood for, percent-decoded.
public struct PathParameters: Sendable, ExpressibleByDictionaryLiteral {
    /// One reference, since most paths have no parameters.
    private let storage: Storage?

    private final class Storage: Sendable {
        let names: [String]
        let values: [String]

        init(_ names: [String], _ values: [String]) {
            self.names = names
            self.values = values
        }
    }

    init() {
        storage = nil
    }

    /// As many values as names.
    init(_ names: [String], _ values: [String]) {
        storage = Storage(names, values)
    }

    /// Makes parameters, for requests that a test makes.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map(\.0), elements.map(\.1))
    }

    /// The value of a parameter, `name` for `/hello/:name`; `nil` where the path has none of that name.
    public subscript(name: String) -> String? {
        storage.flatMap { storage in storage.names.firstIndex(of: name).map { storage.values[$0] } }
    }

    /// The value of a parameter, or another where the path has none of that name.
    public subscript(name: String, default value: @autoclosure () -> String) -> String {
        self[name] ?? value()
    }

    /// Reads the value of a parameter as a number, or as anything else that is made of a text.
    ///
    /// ```swift
    /// server.get("/users/:id") { request in try await users.find(request.parameters.require("id", as: Int.self)) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: as in the path, without the colon.
    ///   - type: the type of the value. A `Bool` is `true`, `false`, `1`, `0`, `on` or `off`; a number has to be finite.
    ///     Default: the text as it is.
    /// - Returns: the value.
    /// - Throws: ``Problem`` with 404 for a text that stands for no such value: there is nothing at this path.
    public func require<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = String.self
    ) throws(Problem) -> Value {
        guard let text = self[name], let value = NamedValue.read(text, as: type) else { throw Problem.nothingHere }
        return value
    }

    /// How many there are.
    package var count: Int { storage?.names.count ?? 0 }
}

extension PathParameters: Sequence {
    /// Makes an iterator over the names and the values, in the order of the path.
    public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
        zip(storage?.names ?? [], storage?.values ?? []).map { (name: $0, value: $1) }.makeIterator()
    }
}
