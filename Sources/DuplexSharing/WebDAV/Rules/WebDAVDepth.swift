// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// How far down a request reaches: the field `Depth` (RFC 4918 section 10.2).
enum WebDAVDepth: Sendable, Hashable {
    /// The resource alone.
    case zero
    /// With what is in it.
    case one
    /// With all below it.
    case infinity

    /// Reads the field.
    ///
    /// - Parameters:
    ///   - fields: of the request.
    ///   - absent: what holds without the field.
    /// - Throws: ``WebDAVFault`` for anything else than 0, 1 and infinity.
    init(_ fields: HTTPFields, absent: WebDAVDepth) throws(WebDAVFault) {
        let values = fields[values: .depth]
        if values.isEmpty {
            self = absent
            return
        }
        switch values.count == 1 ? Grammar.lowercased(Grammar.trimmed(Substring(values[0]))) : "" {
        case "0": self = .zero
        case "1": self = .one
        case "infinity": self = .infinity
        default: throw WebDAVFault("Depth is 0, 1 or infinity.")
        }
    }
}
