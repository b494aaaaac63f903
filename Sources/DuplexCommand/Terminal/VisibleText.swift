// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

extension String {
    /// The text with everything that a terminal might obey, or that makes it look like other text, made visible.
    ///
    /// A peer's text could otherwise move the cursor, rename the window or type for the user. C0 controls and DEL become
    /// their control pictures (`␛`); C1 controls, line and paragraph separators and everything that has an effect but no
    /// shape, such as what turns the direction of writing or joins emoji, become escapes (`\u{202e}`). The backslash itself
    /// is left alone: this is for reading, not for reading back.
    var visible: String {
        guard unicodeScalars.contains(where: Self.isDangerous) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if Self.isDangerous(scalar) {
                text += Self.replacement(for: scalar)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Whether a terminal might obey it, or show it as something else.
    static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: false
        case 0x00...0x1F, 0x7F...0x9F: true
        // The plane's block of tags and selectors: text that nobody sees, the unassigned ones included.
        case 0xE0000...0xE0FFF: true
        default: isInvisible(scalar.properties.generalCategory)
        }
    }

    /// Format characters (Cf) set the direction of writing, join, annotate and mark without a shape of their own; line
    /// and paragraph separators end a line as a line feed does (Unicode Standard, section 4.5).
    private static func isInvisible(_ category: Unicode.GeneralCategory) -> Bool {
        [.format, .lineSeparator, .paragraphSeparator].contains(category)
    }

    private static func replacement(for scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x00...0x1F: Unicode.Scalar(0x2400 + scalar.value).map { String($0) } ?? escape(scalar)
        case 0x7F: "␡"
        default: escape(scalar)
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        "\\u{" + String(scalar.value, radix: 16) + "}"
    }
}

extension Collection<UInt8> {
    /// The bytes in hexadecimal, two digits each, separated by spaces.
    var hexadecimal: String {
        Base16.encode(self, separator: " ")
    }
}
