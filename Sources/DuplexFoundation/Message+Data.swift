// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Message {
    /// Makes a binary message, whose bytes are copied.
    public init(_ data: Data) {
        self = .binary([UInt8](data))
    }

    /// A copy of the payload: bytes, or a text in UTF-8.
    public var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let bytes): Data(bytes)
        }
    }
}
