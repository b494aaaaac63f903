// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Headers of version 2 of the PROXY protocol, put together byte by byte.
enum ProxyBytes {
    static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    static let ipv4: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 2, 0xDC, 0x04, 0x01, 0xBB]
    static let ipv6: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        + [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [2]
        + [0xDC, 0x04, 0x01, 0xBB]

    /// A header with that command, family and transport, and whatever follows.
    static func header(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? rest.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 255)] + rest
    }

    static func field(_ kind: UInt8, _ value: [UInt8]) -> [UInt8] {
        [kind, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
    }

    /// The addresses of two Unix sockets.
    static func unix(_ source: [UInt8], _ destination: [UInt8]) -> [UInt8] {
        [source, destination].flatMap { $0 + [UInt8](repeating: 0, count: 108 - $0.count) }
    }
}
