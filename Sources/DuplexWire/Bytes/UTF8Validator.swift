// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Checks UTF-8 as it arrives, in any split, and fails at the first byte that can't belong to a valid text (RFC 3629).
public struct UTF8Validator: Sendable, Hashable {
    /// Where within a character the text stands: one of ``UTF8States``.
    private var state = UTF8States.boundary

    /// A validator at the beginning of a text.
    public init() {}

    /// Whether the text may end here: no character has been begun and not finished.
    public var isComplete: Bool { state == UTF8States.boundary }

    /// Takes the next bytes.
    ///
    /// - Returns: whether they can belong to a valid text. Once false, always false.
    public mutating func validate(_ bytes: RawSpan) -> Bool {
        // Only its lowest six bits count until the end; shifts take no more of it, so they needn't be cut out each time.
        var wide = UInt64(state)
        var index = 0
        while index + 32 <= bytes.byteCount {
            if wide & 63 != 0 || !bytes.isASCIIBlock(at: index) {
                for word in 0..<4 { UTF8States.step(&wide, over: bytes.littleEndianWord(at: index + 8 * word)) }
            }
            index += 32
        }
        while index + 8 <= bytes.byteCount {
            let word = bytes.littleEndianWord(at: index)
            if wide & 63 != 0 || word & 0x8080_8080_8080_8080 != 0 { UTF8States.step(&wide, over: word) }
            index += 8
        }
        while index < bytes.byteCount {
            UTF8States.step(&wide, over: bytes.byte(at: index))
            index += 1
        }
        state = UInt8(wide & 63)
        return state != UTF8States.impossible
    }
}
