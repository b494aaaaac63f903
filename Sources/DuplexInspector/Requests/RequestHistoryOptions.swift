// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// How much an inspector keeps of the requests that come while somebody looks.
public struct RequestHistoryOptions: Sendable, Hashable {
    /// How many requests are kept.
    ///
    /// Default: 500.
    public var count = 500
    /// How much of each body is kept, of requests and of responses.
    ///
    /// Default: 64 KiB.
    public var bodySize = ByteCount.kibibytes(64)
    /// How much all of them may hold together.
    ///
    /// Default: 32 MiB.
    public var size = ByteCount.mebibytes(32)

    /// Makes the defaults.
    public init() {}
}
