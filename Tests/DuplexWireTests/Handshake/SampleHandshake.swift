// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// The key, the digest and the answer that RFC 6455 section 1.3 works through.
enum Sample {
    static let nonce = Array("the sample nonce".utf8)
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    /// SHA-1 of the one text that the RFC gives the digest of; of anything else, twenty zeroes.
    static let digest: AcceptKey.Digest = { bytes in
        guard bytes == Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8) else {
            return [UInt8](repeating: 0, count: 20)
        }
        return [
            0xB3, 0x7A, 0x4F, 0x2C, 0xC0, 0x62, 0x4F, 0x16, 0x90, 0xF6, 0x46, 0x06, 0xCF, 0x38, 0x59, 0x45, 0xB2, 0xBE,
            0xC4, 0xEA,
        ]
    }

    /// A handshake's request that is in order, with some fields taken away and then others added.
    static func request(
        _ method: HTTPRequest.Method = .get,
        version: HTTPVersion = .http11,
        without removed: [HTTPField.Name] = [],
        with added: [(HTTPField.Name, String)] = []
    ) throws -> RequestHead {
        var headers = host("server.example.com")
        headers[.upgrade] = "websocket"
        headers[.connection] = "Upgrade"
        headers[.secWebSocketKey] = key
        headers[.secWebSocketVersion] = "13"
        for name in removed { headers[name] = nil }
        for (name, value) in added { headers.append(HTTPField(name: name, value: value)) }
        return try RequestHead(method: method, target: "/chat", version: version, headers: headers)
    }
}
