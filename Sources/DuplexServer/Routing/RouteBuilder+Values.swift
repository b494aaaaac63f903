// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

// Handlers that return values need DuplexFoundation. The overloads here are picked without it alone, so that the compiler
// names it.

extension RouteBuilder {
    /// Takes no handler: `get` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func get<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}

    /// Takes no handler: `post` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func post<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}

    /// Takes no handler: `put` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func put<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}

    /// Takes no handler: `patch` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func patch<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}

    /// Takes no handler: `delete` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func delete<Value: Encodable & SendableMetatype>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}

    /// Takes no handler: `on` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func on<Value: Encodable & SendableMetatype>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}

    /// Takes no handler: `match` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func match<Value: Encodable & SendableMetatype>(
        _ name: String,
        _ options: RouteOption...,
        where picks: @escaping @Sendable (RequestHead) -> Bool,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}

    /// Takes no handler: `fallback` answers with a value in JSON by `DuplexFoundation`.
    @available(
        *,
        unavailable,
        message: "add 'import DuplexFoundation' for values in JSON, or return text, a status or a Response"
    )
    @_disfavoredOverload
    public mutating func fallback<Value: Encodable & SendableMetatype>(
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Value
    ) {}
}
