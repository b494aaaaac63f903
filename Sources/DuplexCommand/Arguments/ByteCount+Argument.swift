// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import ArgumentParser
public import DuplexWire

/// Read by `ByteCount.init(_:)`.
extension ByteCount: ExpressibleByArgument {
    /// The form that can be typed without quotes: without the space.
    public var defaultValueDescription: String {
        description.replacing(" ", with: "")
    }
}
