// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// The names of locks (RFC 4918 section 6.5).
enum LockToken {
    /// Makes a token of random bytes, as a UUID of version 4 (RFC 9562 section 5.4).
    ///
    /// - Parameter bytes: sixteen that nobody can guess.
    /// - Returns: the token, such as `urn:uuid:f81d4fae-7dec-41d0-a765-00a0c91e6bf6`.
    static func make(of bytes: [UInt8]) -> String {
        var bytes = Array((bytes + [UInt8](repeating: 0, count: 16)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Base16.encode(bytes).utf8)
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
        return "urn:uuid:" + parts.joined(separator: "-")
    }

    /// The token that the field `Lock-Token` names.
    ///
    /// - Throws: ``WebDAVFault`` without the field, and for one that is malformed.
    static func read(_ fields: HTTPFields) throws(WebDAVFault) -> String {
        let values = fields[values: .lockToken]
        var scanner = FieldScanner(values.first ?? "")
        scanner.skipBlanks()
        let token = WebDAVCondition.codedURL(&scanner)
        scanner.skipBlanks()
        guard values.count == 1, let token, scanner.isAtEnd else {
            throw WebDAVFault("Lock-Token names the lock: a URL between < and >.")
        }
        return token
    }
}
