// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

extension ClientHandshake {
    /// Prepares a handshake without extensions, whose answer is checked with this module's own SHA-1.
    ///
    /// - Parameters:
    ///   - url: The server's URL.
    ///   - subprotocols: The subprotocols to ask for, the preferred one first. Default: none.
    ///   - headers: Fields to send besides the handshake's own. Host takes the place of the URL's. Default: none.
    ///   - key: 16 random bytes, new for every handshake (RFC 6455 section 4.1, item 7).
    ///   - limits: Of these, `headSize` and `headFields` bound the response. Default: ``HTTPLimits/internet``.
    /// - Throws: ``HandshakeError`` with the code `invalidRequest` if the key hasn't 16 bytes, if the subprotocols
    ///   aren't different tokens, if a field is one of the handshake's own: Upgrade, Connection, Sec-WebSocket-Key
    ///   and the like, or if one that comes once is there twice.
    public init(
        url: WebSocketURL,
        subprotocols: [String] = [],
        headers: HTTPFields = [:],
        key: [UInt8],
        limits: HTTPLimits = .internet
    ) throws(HandshakeError) {
        try self.init(
            url: url,
            subprotocols: subprotocols,
            headers: headers,
            extensions: [],
            key: key,
            limits: limits,
            digest: AcceptDigest.sha1
        )
    }
}
