// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire

/// What rooms answer in JSON.
enum InspectorAnswer {
    /// An answer that nobody keeps.
    static func json(_ json: JSONText) -> Response { Self.json(json.text) }

    /// The same of JSON that was written where it may take a while.
    static func json(_ text: String) -> Response {
        Response(type: .json, fields: [.cacheControl: "no-store"], body: .text(text + "\n"))
    }

    /// An object.
    ///
    /// - Parameter build: adds its members.
    /// - Returns: the response.
    static func object(_ build: (inout JSONText.Members) -> Void) -> Response {
        var members = JSONText.Members()
        build(&members)
        return json(.object(members.all))
    }

    /// A file to be kept.
    static func attachment(_ type: MediaType, named name: String, _ bytes: [UInt8]) -> Response {
        var response = Response(type: type, fields: [.cacheControl: "no-store"], body: bytes)
        response.attach(as: name)
        return response
    }
}
