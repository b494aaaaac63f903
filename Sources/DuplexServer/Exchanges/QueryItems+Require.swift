// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

extension QueryItems {
    /// Reads the value of the first item of a name as a number, or as anything else that is made of a text.
    ///
    /// ```swift
    /// server.get("/notes") { request in
    ///     let page = try request.query.require("page", as: Int.self, default: 1)
    ///     return try await notes.page(page)
    /// }
    /// ```
    ///
    /// It reads the fields of a form as well: `try await request.form().require("age", as: Int.self)`.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - type: the type of the value. A `Bool` is `true`, `false`, `1`, `0`, `on` or `off`; a number has to be finite.
    ///     Default: the text as it is.
    /// - Returns: the value.
    /// - Throws: ``Problem`` with 400 and the name if there is no such item, or if its text stands for no such value.
    public func require<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = String.self
    ) throws(Problem) -> Value {
        guard let value = try value(name, type) else {
            throw Problem(.badRequest, NamedValue.missing(name) + ".")
        }
        return value
    }

    /// Reads the value of the first item of a name, or takes another if there is no such item.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - type: as of ``require(_:as:)``. Default: the type of the other value.
    ///   - other: the value if there is no such item.
    /// - Returns: the value.
    /// - Throws: ``Problem`` with 400 and the name if the text of the item stands for no such value, also if it is empty and
    ///   the value is no text.
    public func require<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = Value.self,
        default other: @autoclosure () -> Value
    ) throws(Problem) -> Value {
        try value(name, type) ?? other()
    }

    /// The value of the first item of a name; nil if there is none.
    private func value<Value: LosslessStringConvertible>(_ name: String, _ type: Value.Type) throws(Problem) -> Value? {
        guard let text = self[name] else { return nil }
        guard let value = NamedValue.read(text, as: type) else {
            throw Problem(.badRequest, NamedValue.unfit(name, type) + ".")
        }
        return value
    }
}
