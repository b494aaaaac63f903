// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Mustache

/// Escapes text for HTML, scalar by scalar.
///
/// The library looks at characters as people see them: a quotation mark with an accent is none to it, and ends an attribute
/// all
/// the same (swift-mustache 2.1.1, String.swift).
struct HTMLText: MustacheContentType {
    /// What templates call it.
    static let name = "DUPLEXHTML"

    /// Makes it known to the library, which has one table of them for the process.
    static let isRegistered: Bool = {
        MustacheContentTypes.register(HTMLText(), named: name)
        return true
    }()

    func escapeText(_ text: String) -> String { HTMLEscaping.escaped(text) }
}
