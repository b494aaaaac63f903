// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// How the bytes of a response's body go on the wire (RFC 9112 section 6).
enum ResponseFraming: Sendable, Hashable {
    /// There is no body, whatever the app writes: in answer to HEAD, and with 204 and 304.
    case none
    /// Content-Length: that many bytes are still to come.
    case length(left: Int)
    /// In chunks.
    case chunked
    /// Up to the end of the connection, for clients that know no chunks.
    case untilClose
}

/// How long the body of a response is.
public enum ResponseLength: Sendable, Hashable {
    /// That many bytes.
    case bytes(Int)
    /// Known when it has ended.
    case unknown
}

/// The fields of a response that the session alone writes (RFC 9110 section 7.6.1, RFC 9112 section 6).
enum FramingFields {
    /// Whether a field of that name is the connection's, and not the app's to write.
    ///
    /// `Upgrade` stays: it belongs to 426, and Connection is made to name it.
    static func contains(_ name: HTTPField.Name) -> Bool {
        switch name.canonicalName {
        case "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te": true
        default: false
        }
    }

    /// The length that an app's Content-Length gives, if it is one number.
    static func length(in fields: HTTPFields) -> Int? {
        let values = fields[values: .contentLength]
        return values.count == 1 ? Grammar.decimal(values[0].utf8) : nil
    }
}
