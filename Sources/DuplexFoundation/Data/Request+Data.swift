// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// The whole body; as `RequestBody.collect(upTo:)`.
    ///
    /// - Parameter limit: the most bytes that are taken. Default: what the route allows.
    /// - Returns: the bytes; none where there is no body.
    /// - Throws: as `RequestBody.collect(upTo:)`.
    public func data(upTo limit: ByteCount = .unlimited) async throws -> Data {
        Data(try await body.collect(upTo: limit))
    }
}
