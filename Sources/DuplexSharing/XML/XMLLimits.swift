// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a document may make the reader hold.
struct XMLLimits: Sendable, Hashable {
    /// The length of the document in bytes.
    var bytes = 1 << 20
    /// How deep elements may lie in one another.
    var depth = 32
    /// The number of elements.
    var elements = 4_096
    /// The number of attributes of one element.
    var attributes = 64
    /// The length of a name with its namespace in bytes: each element holds a copy of it.
    var name = 1_024
}
