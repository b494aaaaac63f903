// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A frame as it was recorded: what it carried, unmasked and inflated where that was known.
struct RecordedFrame: Sendable, Equatable {
    /// Its place among all frames of the connection, from 0.
    var number: UInt64
    /// When it was sent or had come whole, in seconds since 1970.
    var time: Double
    /// Whether the recorded side sent it.
    var isOutgoing: Bool
    var opcode: Opcode
    /// Whether it ends its message.
    var isFinal: Bool
    /// Whether its message was compressed (RFC 7692).
    var isCompressed: Bool
    /// How many bytes it had on the wire, its header with them.
    var wireLength: UInt64
    /// What it carried; its first bytes only, where it was long.
    var payload: RecordedBytes

    init(
        number: UInt64,
        time: Double,
        isOutgoing: Bool,
        opcode: Opcode,
        isFinal: Bool = true,
        isCompressed: Bool = false,
        wireLength: UInt64,
        payload: RecordedBytes
    ) {
        self.number = number
        self.time = time
        self.isOutgoing = isOutgoing
        self.opcode = opcode
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.wireLength = wireLength
        self.payload = payload
    }
}
