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
    /// Reads the body as a value, from JSON.
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
    ///   - decoder: reads the JSON. Default: by `RouteOption.json(encoder:decoder:)` of the server, the group or the
    ///     route; otherwise ``JSONDefaults/makeDecoder()``, with dates in ISO 8601.
    /// - Returns: the value.
    /// - Throws: `HTTPProtocolError` with 415 for a body of another media type than JSON, so that forms of other sites' pages
    ///   aren't read; with 400, and where it is wrong, for what isn't such a value; else as
    ///   `RequestBody.collect(limit:)`.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        limit: ByteCount = .unlimited,
        decoder: JSONDecoder? = nil
    ) async throws -> Value {
        guard contentType?.isJSON == true else {
            throw HTTPProtocolError(.unsupportedMediaType, "the body isn't said to be JSON")
        }
        let bytes = try await body.collect(limit: limit)
        do {
            return try (decoder ?? JSONSettings.makeDecoder()).decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw HTTPProtocolError(.malformedBody, JSONFault.description(of: error))
        }
    }
}

extension Response {
    /// Makes a response of a value in JSON; `nil` becomes `null`.
    ///
    /// - Parameters:
    ///   - status: the status. Default: 200.
    ///   - value: the value.
    ///   - type: the media type. Default: `application/json`.
    ///   - headers: further fields.
    ///   - encoder: writes the JSON. Default: within a handler by `RouteOption.json(encoder:decoder:)` of the server, the
    ///     group or the route; otherwise ``JSONDefaults/makeEncoder()``, with dates in ISO 8601.
    /// - Throws: `EncodingError`.
    public init(
        _ status: HTTPResponse.Status = .ok,
        json value: some Encodable,
        type: MediaType = .json,
        headers: HTTPFields = HTTPFields(),
        encoder: JSONEncoder? = nil
    ) throws {
        let data = try (encoder ?? JSONSettings.makeEncoder()).encode(value)
        self.init(status, type: type, headers: headers, body: [UInt8](data))
    }
}
