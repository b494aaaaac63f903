// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexWire

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
    /// - Throws: `HTTPError` with 415 for a body of another media type than JSON, so that forms of other sites' pages
    ///   aren't read; with 400, and where it is wrong, for what isn't such a value; else as
    ///   `RequestBody.collect(upTo:)`.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        upTo limit: ByteCount = .unlimited,
        decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Value {
        guard contentType?.isJSON == true else {
            throw HTTPError(.unsupportedMediaType, "the body isn't said to be JSON")
        }
        let bytes = try await body.collect(upTo: limit)
        do {
            return try decoder.decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw HTTPError(.malformedBody, JSONFault.description(of: error))
        }
    }
}
