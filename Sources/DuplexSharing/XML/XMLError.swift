// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Why a document isn't read.
struct XMLError: Error, Sendable, Hashable, CustomStringConvertible {
    enum Code: Sendable, Hashable {
        /// It isn't well-formed XML with namespaces, or of no encoding that is known.
        case malformed
        /// It has a document type, in which entities would be declared.
        case documentType
        /// It is longer, deeper or has more in it than is taken.
        case tooLarge
    }

    let code: Code
    /// A sentence for whoever wrote the document.
    let message: String
    /// The line in which reading ended, counted from 1.
    let line: Int

    var description: String { "line \(line): \(message)" }
}
