// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Which of a cluster's slots a key belongs to.
enum RedisSlot {
    /// The number of slots.
    static let count = 16_384

    /// The slot of a key or of a sharded channel: CRC-16 of the key, or of what stands between its first brace and the
    /// next closing one, if anything does, so that keys with the same tag have the same slot.
    ///
    /// - Parameter key: the key in UTF-8.
    /// - Returns: 0 to 16,383.
    static func of(_ key: String) -> Int {
        of(Array(key.utf8))
    }

    /// The slot of a key of any bytes.
    static func of(_ key: [UInt8]) -> Int {
        Int(checksum(tag(of: key)) % UInt16(count))
    }

    private static func tag(of key: [UInt8]) -> ArraySlice<UInt8> {
        guard let opening = key.firstIndex(of: UInt8(ascii: "{")),
            let closing = key[(opening + 1)...].firstIndex(of: UInt8(ascii: "}")), closing > opening + 1
        else { return key[...] }
        return key[(opening + 1)..<closing]
    }

    /// CRC-16/XMODEM: the polynomial 0x1021, beginning with 0, nothing reflected.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { $0 << 8 ^ table[Int($0 >> 8 ^ UInt16($1))] }
    }

    private static let table: [UInt16] = (0..<256).map { index in
        (0..<8).reduce(UInt16(index) << 8) { value, _ in value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021 }
    }
}
