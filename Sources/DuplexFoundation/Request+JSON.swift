// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexWire
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// The body as a value, from JSON.
    ///
    /// ```swift
    /// server.post("/orders") { request in
    ///     let order = try await request.decode(Order.self)
    ///     return try Response(.created, json: await orders.add(order))
    /// }
    /// ```
    ///
    /// The body is read whole, so the route's `bodySize` bounds it.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - limit: the most bytes that are taken. Default: what the route allows.
    ///   - decoder: reads the JSON. Default: Foundation's, as it is.
    /// - Returns: the value.
    /// - Throws: `HTTPProtocolError` with 415 for a body of another media type than JSON, so that forms of other sites' pages
    ///   aren't read; with 400, and where it is wrong, for what isn't such a value; else as
    ///   `RequestBody.collect(upTo:)`.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        upTo limit: ByteCount = .unlimited,
        decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Value {
        guard contentType?.isJSON == true else {
            throw HTTPProtocolError(.unsupportedMediaType, "the body isn't said to be JSON")
        }
        let bytes = try await body.collect(upTo: limit)
        do {
            return try decoder.decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw HTTPProtocolError(.malformedBody, JSONFault.description(of: error))
        }
    }
}

extension Response {
    /// Makes a response of a value in JSON.
    ///
    /// - Parameters:
    ///   - status: the status. Default: 200.
    ///   - value: the value.
    ///   - type: the media type. Default: `application/json`.
    ///   - headers: further fields.
    ///   - encoder: writes the JSON. Default: Foundation's, as it is.
    /// - Throws: `EncodingError`.
    public init(
        _ status: HTTPResponse.Status = .ok,
        json value: some Encodable,
        type: MediaType = .json,
        headers: HTTPFields = HTTPFields(),
        encoder: JSONEncoder = JSONEncoder()
    ) throws {
        self.init(status, type: type, headers: headers, body: [UInt8](try encoder.encode(value)))
    }
}

// MARK: Routes whose handlers return values

extension RouteBuilder {
    /// Answers GET with a value in JSON, from a synchronous handler; see `get` of `DuplexServer`.
    ///
    /// ```swift
    /// server.get("/users/:id") { request in users[try request.parameters.require("id", as: Int.self)] }
    /// ```
    ///
    /// Sent with the status 200 as `application/json`; `nil` becomes `null`. For other statuses, fields and encoders return
    /// `Response(json:)`. Of all overloads this is picked last: a text stays a text, and a response what it is.
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
