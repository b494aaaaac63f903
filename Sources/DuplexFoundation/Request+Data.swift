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
    /// The whole body; as `RequestBody.collect(limit:)`.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the bytes; none where there is no body.
    /// - Throws: as `RequestBody.collect(limit:)`.
    public func data(limit: ByteCount = .unlimited) async throws -> Data {
        Data(try await body.collect(limit: limit))
    }
}
