// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Numbers of compressed messages, and the bytes that they took.
package struct CompressionCounts: Sendable, Hashable {
    /// Compressed messages that were sent.
    package var messagesDeflated = 0
    /// The bytes that they have.
    package var bytesBeforeDeflating = 0
    /// The bytes that they took in frames.
    package var bytesDeflated = 0
    /// Compressed messages that arrived whole.
    package var messagesInflated = 0
    /// The bytes that they took in frames.
    package var bytesBeforeInflating = 0
    /// The bytes that they have.
    package var bytesInflated = 0

    /// Nothing yet.
    package init() {}
}
