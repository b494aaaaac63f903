// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Text in pages.
package enum HTMLEscaping {
    /// The text with what would be markup written as character references, fit for the content of elements and for quoted
    /// attributes.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text, escaped scalar by scalar: a quotation mark with an accent ends an attribute all the same.
    package static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "'": result.append(contentsOf: "&#39;".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
