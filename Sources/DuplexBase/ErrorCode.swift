// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The kind of an error, by its name: an open set, to which later versions may add.
///
/// Two codes of one type are the same if their names are.
public protocol ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible where RawValue == String {
    /// Makes a code of that name.
    init(rawValue: String)
}

extension ErrorCode {
    /// The code's name.
    public var description: String { rawValue }
}
