// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire
public import HTTPTypes

// Routes whose handlers return values.

extension RouteBuilder {
    /// Answers GET with a value in JSON, from a synchronous handler; see `get` of `DuplexServer`.
    ///
    /// ```swift
    /// server.get("/users/:id") { request in users[try request.parameters.require("id", as: Int.self)] }
    /// ```
    ///
    /// Sent with the status 200 as `application/json`, by the settings of `RouteOption.json(encoder:decoder:)`. `nil` is answered
    /// with 404; return `Response(json:)` for `null`, and for other statuses and fields. Of all overloads this is picked last:
    /// a text stays a text, and a response what it is.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: must not block. A value that can't be encoded is logged and answered with 500.
    @_disfavoredOverload
    public mutating func get<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> Value
    ) {
        let form = JSONForm(Value.self)
        on(.get, path, .all(options)) { request throws -> Response in try form.response(of: handler(request)) }
    }

    /// Answers GET with a value in JSON; see the synchronous one.
    @_disfavoredOverload
    public mutating func get<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        on(.get, path, .all(options), handler: JSONForm(Value.self).handler(handler))
    }

    /// Answers POST with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func post<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        on(.post, path, .all(options), handler: JSONForm(Value.self).handler(handler))
    }

    /// Answers PUT with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func put<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        on(.put, path, .all(options), handler: JSONForm(Value.self).handler(handler))
    }

    /// Answers PATCH with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func patch<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        on(.patch, path, .all(options), handler: JSONForm(Value.self).handler(handler))
    }

    /// Answers DELETE with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func delete<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        on(.delete, path, .all(options), handler: JSONForm(Value.self).handler(handler))
    }

    /// Answers one method with a value in JSON, from a synchronous handler; see the synchronous GET.
    @_disfavoredOverload
    public mutating func on<Value: Encodable & SendableMetatype>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> Value
    ) {
        let form = JSONForm(Value.self)
        on(method, path, .all(options)) { request throws -> Response in try form.response(of: handler(request)) }
    }

    /// Answers one method with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func on<Value: Encodable & SendableMetatype>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        on(method, path, .all(options), handler: JSONForm(Value.self).handler(handler))
    }

    /// Answers requests that a closure picks with a value in JSON; see `match` of `DuplexServer`, and the synchronous GET.
    @_disfavoredOverload
    public mutating func match<Value: Encodable & SendableMetatype>(
        _ name: String,
        _ options: RouteOption...,
        where picks: @escaping @Sendable (RequestHead) -> Bool,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        match(name, .all(options), where: picks, handler: JSONForm(Value.self).handler(handler))
    }

    /// Answers requests that nothing else answers with a value in JSON; see `fallback` of `DuplexServer`, and the synchronous
    /// GET.
    @_disfavoredOverload
    public mutating func fallback<Value: Encodable & SendableMetatype>(
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {
        fallback(.all(options), handler: JSONForm(Value.self).handler(handler))
    }
}

/// How the values of a route become responses.
///
/// Whether they may be `nil` is found out once for each route.
private struct JSONForm<Value: Encodable & SendableMetatype>: Sendable {
    private let isOptional: Bool

    init(_ type: Value.Type) {
        isOptional = type is any OptionalValue.Type
    }

    func response(of value: Value) throws -> Response {
        if isOptional, let value = value as? any OptionalValue, value.isNil { throw Problem.nothingHere }
        return try Response(json: value)
    }

    func handler(
        _ handler: @escaping @Sendable (Request) async throws -> Value
    ) -> @Sendable (Request) async throws -> Response {
        { request in try response(of: try await handler(request)) }
    }
}

/// An optional of any type, also of another optional, as a dictionary of optionals has them.
private protocol OptionalValue {
    var isNil: Bool { get }
}

extension Optional: OptionalValue {
    fileprivate var isNil: Bool {
        switch self {
        case .none: true
        case .some(let value): (value as? any OptionalValue)?.isNil ?? false
        }
    }
}
