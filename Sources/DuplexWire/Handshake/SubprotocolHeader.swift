// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The field Sec-WebSocket-Protocol of a request (RFC 6455 sections 4.1 and 11.3.4).
public enum SubprotocolHeader {
    /// The most subprotocols in a request.
    public static let bound = 100

    /// The subprotocols in all the fields of that name, in the order of the client's preference.
    ///
    /// - Parameter fields: The fields of a request.
    /// - Returns: The subprotocols; none if there is no such field; nil if a name isn't a token or comes twice, if
    ///   there are more than ``bound``, or if the fields are there but name none.
    public static func parse(_ fields: HTTPFields) -> [String]? {
        guard fields.contains(.secWebSocketProtocol) else { return [] }
        let names = fields[values: .secWebSocketProtocol].flatMap(Grammar.list).map(String.init)
        return !names.isEmpty && isValid(names) ? names : nil
    }

    /// Whether a client may ask for these: each a token and none twice (RFC 6455 section 4.1, item 10).
    ///
    /// Upper and lower case count as different (RFC 6455 section 11.5).
    public static func isValid(_ names: [String]) -> Bool {
        names.count <= bound && names.allSatisfy(Grammar.isToken) && Set(names).count == names.count
    }
}
