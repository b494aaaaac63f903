// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

// Forms: what a browser sends of a page's fields and files.

extension Request {
    /// The fields of a form that was sent as names and values (`application/x-www-form-urlencoded`).
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the names and values, decoded and in their order.
    /// - Throws: `HTTPError` with 415 for a body of another media type, with 400 for one that can't be decoded or has more
    ///   than 1,000 fields, with 413 beyond the limit; else as ``RequestBody/AsyncIterator/next()``.
    public func form(upTo limit: ByteCount = .unlimited) async throws -> QueryItems {
        guard contentType?.matches(.urlEncodedForm) == true else {
            throw HTTPError(.unsupportedMediaType, "the body is no form of names and values")
        }
        let bytes = try await body.collect(upTo: limit)
        guard let text = String(validating: bytes, as: UTF8.self), let items = QueryItems(text) else {
            throw HTTPError(.malformedBody, "the form isn't made of names and values that can be decoded")
        }
        return items
    }

    /// The parts of a form with files (`multipart/form-data`), or of another `multipart` body, one after the other.
    ///
    /// ```swift
    /// server.post("/upload", .bodySize(.gibibytes(1))) { request in
    ///     for try await part in try request.multipart() {
    ///         guard let name = part.safeFilename else { continue }
    ///         for try await piece in part { try await store.write(piece, to: name) }
    ///     }
    ///     return HTTPResponse.Status.created
    /// }
    /// ```
    ///
    /// Nothing more is received than is read, so that a form of any length takes little memory. What is left of a part is
    /// passed over when the next one is asked for.
    ///
    /// - Parameter limits: what the parts may be. Default: 1,000 parts, which together are as long as the body may be.
    /// - Returns: the parts; to be read once, by one task.
    /// - Throws: `HTTPError` with 415 for a body of another media type, with 400 for one without a boundary.
    public func multipart(limits: MultipartLimits = MultipartLimits()) throws(HTTPError) -> MultipartForm {
        let parser = try MultipartParser(contentType ?? "", limits: limits)
        return MultipartForm(MultipartReader(parser, body))
    }
}
