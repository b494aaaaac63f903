// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Values in JSON, as bodies of requests and of responses.

extension TestClient {
    /// Makes a request with a value in JSON, over a connection of its own.
    ///
    /// ```swift
    /// let note = try await client.request(.put, "/notes/1", json: Note("hi")).decode(Note.self)
    /// ```
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path, with a query if there is one.
    ///   - value: the value.
    ///   - headers: the fields. Host and Content-Length are added, and Content-Type with `application/json`, unless they are
    ///     there.
    ///   - encoder: writes the JSON. Default: one as a server has it, with dates in ISO 8601.
    /// - Returns: the response, whole.
    /// - Throws: `EncodingError`; else as ``request(_:_:headers:body:)``.
    public func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        json value: some Encodable,
        headers: HTTPFields = [:],
        encoder: JSONEncoder? = nil
    ) async throws -> TestResponse {
        var headers = headers
        if !headers.contains(.contentType) { headers[.contentType] = "application/json" }
        let json = try (encoder ?? ServerJSON.makeEncoder()).encode(value)
        return try await request(method, path, headers: headers, body: [UInt8](json))
    }

    /// Makes a POST request with a value in JSON; see ``request(_:_:json:headers:encoder:)``.
    public func post(
        _ path: String,
        json value: some Encodable,
        headers: HTTPFields = [:],
        encoder: JSONEncoder? = nil
    ) async throws -> TestResponse {
        try await request(.post, path, json: value, headers: headers, encoder: encoder)
    }

    /// Makes a PUT request with a value in JSON; see ``request(_:_:json:headers:encoder:)``.
    public func put(
        _ path: String,
        json value: some Encodable,
        headers: HTTPFields = [:],
        encoder: JSONEncoder? = nil
    ) async throws -> TestResponse {
        try await request(.put, path, json: value, headers: headers, encoder: encoder)
    }

    /// Makes a PATCH request with a value in JSON; see ``request(_:_:json:headers:encoder:)``.
    public func patch(
        _ path: String,
        json value: some Encodable,
        headers: HTTPFields = [:],
        encoder: JSONEncoder? = nil
    ) async throws -> TestResponse {
        try await request(.patch, path, json: value, headers: headers, encoder: encoder)
    }
}

extension TestResponse {
    /// The body as a value, from JSON, whatever its status and its media type are.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - decoder: reads the JSON. Default: one as a server has it, with dates in ISO 8601.
    /// - Returns: the value.
    /// - Throws: ``TestingError`` with `undecodable` if the body isn't such a value; it shows the response.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder? = nil
    ) throws -> Value {
        do {
            return try (decoder ?? ServerJSON.makeDecoder()).decode(type, from: Data(body))
        } catch {
            throw TestingError.undecodable("\(type)", error, self)
        }
    }
}

/// JSON as a server reads and writes it unless the app sets something else; as `JSONDefaults` of `DuplexFoundation`.
private enum ServerJSON {
    static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    static func makeDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(date)
        return decoder
    }

    private static let date: @Sendable (any Decoder) throws -> Date = { decoder in
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        if let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) { return date }
        if let date = try? Date.ISO8601FormatStyle().parse(text) { return date }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "The date isn't in ISO 8601.")
    }
}
