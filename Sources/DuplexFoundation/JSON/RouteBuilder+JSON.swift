// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import HTTPTypes

// Routes whose handlers return values. An overload that is picked last: a text stays a text, and a response what it is.

extension RouteBuilder {
    /// Answers GET with a value in JSON, from a synchronous handler; see `get` of `DuplexServer`.
    ///
    /// ```swift
    /// server.get("/users/:id") { request in users[try request.parameters.require("id", as: Int.self)] }
    /// ```
    ///
    /// Sent with the status 200 as `application/json`; `nil` becomes `null`. For other statuses, fields and encoders return
    /// `Response(json:)`.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: must not block. What can't be encoded is logged and answered with 500.
    @_disfavoredOverload
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> some Encodable & SendableMetatype
    ) {
        on(.get, path, .all(options)) { request throws in try Response(json: handler(request)) }
    }

    /// Answers GET with a value in JSON; see the synchronous one.
    @_disfavoredOverload
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some Encodable & SendableMetatype
    ) {
        on(.get, path, .all(options)) { request async throws in try Response(json: await handler(request)) }
    }

    /// Answers POST with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func post(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some Encodable & SendableMetatype
    ) {
        on(.post, path, .all(options)) { request async throws in try Response(json: await handler(request)) }
    }

    /// Answers PUT with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func put(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some Encodable & SendableMetatype
    ) {
        on(.put, path, .all(options)) { request async throws in try Response(json: await handler(request)) }
    }

    /// Answers PATCH with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func patch(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some Encodable & SendableMetatype
    ) {
        on(.patch, path, .all(options)) { request async throws in try Response(json: await handler(request)) }
    }

    /// Answers DELETE with a value in JSON; see the synchronous GET.
    @_disfavoredOverload
    public mutating func delete(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some Encodable & SendableMetatype
    ) {
        on(.delete, path, .all(options)) { request async throws in try Response(json: await handler(request)) }
    }
}
