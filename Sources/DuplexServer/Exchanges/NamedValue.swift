// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Values that a client sends as texts with a name: in the path, in the query, in a form.
package enum NamedValue {
    /// Reads a text as a value.
    ///
    /// A `Bool` is `true`, `1` or `on`, as browsers send a box that is ticked, or `false`, `0` or `off`. Numbers that aren't
    /// finite are refused: a handler that converts one to an integer would trap.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - type: the type of the value.
    /// - Returns: the value; nil for a text that stands for none.
    package static func read<Value: LosslessStringConvertible>(_ text: String, as type: Value.Type) -> Value? {
        if type == Bool.self { return boolean(text) as? Value }
        guard let value = Value(text) else { return nil }
        // Most values are of these two, and needn't be looked up.
        if type == Int.self || type == String.self { return value }
        if let number = value as? any FloatingPoint, !number.isFinite { return nil }
        return value
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text {
        case "true", "1", "on": true
        case "false", "0", "off": false
        default: nil
        }
    }

    /// Says that the value of a name is missing.
    package static func missing(_ name: String) -> String { "\"\(plain(name))\" is missing" }

    /// Says that a text isn't a value of a type, without the text.
    package static func unfit(_ name: String, _ type: Any.Type) -> String {
        let fault =
            switch type {
            case is any FixedWidthInteger.Type: "isn't a whole number that fits here"
            case is any BinaryFloatingPoint.Type: "isn't a number"
            case is Bool.Type: "is neither true nor false"
            default: "has a value that isn't taken here"
            }
        return "\"\(plain(name))\" \(fault)"
    }

    /// A name without control characters, cut after 64 characters of Unicode: it may be the client's.
    package static func plain(_ name: String) -> String {
        let scalars = name.unicodeScalars.prefix(64).map { $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
