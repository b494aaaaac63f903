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
    /// The whole body; as `RequestBody.collect(limit:)`.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the bytes; none where there is no body.
    /// - Throws: as `RequestBody.collect(limit:)`.
    public func data(limit: ByteCount = .unlimited) async throws -> Data {
        Data(try await body.collect(limit: limit))
    }
}

extension Response {
    /// Makes a response of a copy of the bytes.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - type: the media type of the body, such as `"image/png"`; left out when `nil`.
    ///   - headers: further fields.
    ///   - body: the bytes.
    @_disfavoredOverload
    public init(
        _ status: HTTPResponse.Status = .ok,
        type: MediaType? = nil,
        headers: HTTPFields = HTTPFields(),
        body: Data
    ) {
        self.init(status, type: type, headers: headers, body: [UInt8](body))
    }
}
