// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Checks UTF-8 as it arrives, in any split, and fails at the first byte that can't belong to a valid text (RFC 3629).
package struct UTF8Validator: Sendable, Hashable {
    /// Where within a character the text stands: one of ``UTF8States``.
    private var state = UTF8States.boundary

    /// A validator at the beginning of a text.
    package init() {}

    /// Whether the text may end here: no character has been begun and not finished.
    package var isComplete: Bool { state == UTF8States.boundary }

    /// Takes the next bytes.
    ///
    /// - Returns: whether they can belong to a valid text. Once false, always false.
    package mutating func validate(_ bytes: RawSpan) -> Bool {
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

/// The automaton that accepts UTF-8 (RFC 3629 section 4), one step for a byte and none of them a branch.
///
/// A state is a multiple of six below 64. Each byte has a word that holds, from the bit of each state on, the state that
/// follows it: to take a step is to shift the byte's word by the state. The first byte of a character decides about more
/// than the number that follow, since no character may be written longer than needed, be a surrogate, or lie beyond
/// U+10FFFF.
private enum UTF8States {
    /// Between two characters.
    static let boundary: UInt8 = 0
    /// Behind a byte that no text can have; nothing leads out of it.
    static let impossible: UInt8 = 6

    private static let oneMore: UInt8 = 12
    private static let twoMore: UInt8 = 18
    private static let threeMore: UInt8 = 24
    private static let afterE0: UInt8 = 30
    private static let afterED: UInt8 = 36
    private static let afterF0: UInt8 = 42
    private static let afterF4: UInt8 = 48

    /// For each byte the word that it shifts by the state.
    private static let transitions: InlineArray<256, UInt64> = InlineArray { byte in
        stride(from: boundary, through: afterF4, by: 6).reduce(UInt64(0)) { word, state in
            word | UInt64(next(state, UInt8(byte))) << UInt64(state)
        }
    }

    @inline(__always)
    static func step(_ state: inout UInt64, over byte: UInt8) {
        state = transitions[Int(byte)] &>> state
    }

    /// Eight steps, the lowest byte first.
    @inline(__always)
    static func step(_ state: inout UInt64, over word: UInt64) {
        for shift in 0..<8 {
            step(&state, over: UInt8(truncatingIfNeeded: word &>> UInt64(8 * shift)))
        }
    }

    private static func next(_ state: UInt8, _ byte: UInt8) -> UInt8 {
        switch (state, byte) {
        case (boundary, 0x00...0x7F): boundary
        case (boundary, 0xC2...0xDF): oneMore
        case (boundary, 0xE0): afterE0
        case (boundary, 0xED): afterED
        case (boundary, 0xE1...0xEF): twoMore
        case (boundary, 0xF0): afterF0
        case (boundary, 0xF1...0xF3): threeMore
        case (boundary, 0xF4): afterF4
        case (oneMore, 0x80...0xBF): boundary
        case (twoMore, 0x80...0xBF), (afterE0, 0xA0...0xBF), (afterED, 0x80...0x9F): oneMore
        case (threeMore, 0x80...0xBF), (afterF0, 0x90...0xBF), (afterF4, 0x80...0x8F): twoMore
        default: impossible
        }
    }
}
