// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire

/// What rooms answer.
enum InspectorAnswer {
    /// A value in JSON, which nobody keeps.
    ///
    /// - Parameter value: the value.
    /// - Returns: the response.
    /// - Throws: `EncodingError`.
    static func json(_ value: some Encodable) throws -> Response { json(text: try CompactJSON.text(of: value)) }

    /// The same of JSON that was written where it may take a while.
    static func json(text: String) -> Response {
        Response(type: .json, fields: [.cacheControl: "no-store"], body: .text(text + "\n"))
    }

    /// A file to be kept.
    static func attachment(_ type: MediaType, named name: String, _ bytes: [UInt8]) -> Response {
        var response = Response(type: type, fields: [.cacheControl: "no-store"], body: bytes)
        response.attach(as: name)
        return response
    }
}
