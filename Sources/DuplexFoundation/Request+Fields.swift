// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexWire

extension Request {
    /// Reads the query as a value.
    ///
    /// ```swift
    /// struct Search: Decodable { var word: String; var page: Int?; var tag: [String] }
    /// server.get("/search") { request in try await index.find(request.decodeQuery(Search.self)) }   // ?word=a&tag=b
    /// ```
    ///
    /// Names are those of the properties, or of their coding keys. Several items of a name become an array or a set, which is
    /// empty without any; of several the first counts otherwise. An optional is `nil` if its item is missing or empty. A
    /// `Bool` is `true`, `false`, `1`, `0`, `on` or `off`, a number has to be finite, a `Decimal` has a point and no comma, a
    /// `Date` is in ISO 8601 or a day such as `2026-11-29`, and a `URL` is a text. Other items are ignored.
    ///
    /// - Parameter type: the type of the value.
    /// - Returns: the value.
    /// - Throws: `HTTPProtocolError` with 400, and with the name if an item is missing or its text stands for no such value,
    ///   as for a query that can't be decoded or has more than 1,000 items. `DecodingError.typeMismatch` for a type with
    ///   values within values, which a query doesn't have: that is a mistake of the app, which is logged and answered with 500.
    public func decodeQuery<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try FieldDecoder.decode(type, of: query, code: .badTarget)
    }

    /// Reads a form as a value: names and values (`application/x-www-form-urlencoded`), or the fields of one with parts
    /// (`multipart/form-data`).
    ///
    /// ```swift
    /// struct Login: Decodable { var name: String; var password: String; var remember: Bool? }
    /// server.post("/login") { request in try await accounts.logIn(request.form(Login.self)) }
    /// ```
    ///
    /// Values are read as by ``decodeQuery(_:)``. Browsers don't send a box that isn't ticked, so its property is a `Bool?`.
    /// Files are passed over: for those see `Request.multipart(limits:)`. The form is read whole, so the route's `bodySize`
    /// bounds it.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - limit: the most bytes that are taken: of the whole body, or of the fields of a form with parts. Default: what the
    ///     route allows.
    /// - Returns: the value.
    /// - Throws: `HTTPProtocolError` with 415 for a body of another media type or an unknown charset, with 413 beyond the
    ///   limit or for a form of more than 1,000 parts, files among them, with 400, and with the name, if a field is missing or
    ///   its text stands for no such value, and with 400 for a form that can't be decoded or has more than 1,000 names and
    ///   values. `DecodingError.typeMismatch` as ``decodeQuery(_:)``; else as `RequestBody.AsyncIterator.next()`.
    public func form<Value: Decodable>(_ type: Value.Type, limit: ByteCount = .unlimited) async throws -> Value {
        guard contentType?.matches("multipart/form-data") == true else {
            return try FieldDecoder.decode(type, of: await form(limit: limit), code: .malformedBody)
        }
        return try FieldDecoder.decode(type, of: await fieldsOfParts(limit: limit), code: .malformedBody)
    }

    private func fieldsOfParts(limit: ByteCount) async throws -> [QueryItems.Item] {
        var items: [QueryItems.Item] = []
        var rest = limit.bytes
        for try await part in try multipart() where part.filename == nil {
            let bytes = try await part.collect(limit: .bytes(rest))
            rest -= bytes.count
            let charset = try Charset(of: part.mediaType)
            items.append(QueryItems.Item(name: part.name, value: try charset.decode(bytes)))
        }
        return items
    }
}
