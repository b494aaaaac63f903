// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Numbers of compressed messages, and the bytes that they took.
public struct CompressionCounts: Sendable, Hashable {
    /// Compressed messages that were sent.
    public package(set) var messagesDeflated = 0
    /// The bytes that they have.
    public package(set) var bytesBeforeDeflating = 0
    /// The bytes that they took in frames.
    public package(set) var bytesDeflated = 0
    /// Compressed messages that arrived whole.
    public package(set) var messagesInflated = 0
    /// The bytes that they took in frames.
    public package(set) var bytesBeforeInflating = 0
    /// The bytes that they have.
    public package(set) var bytesInflated = 0

    /// Nothing yet.
    package init() {}
}
