// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// The request of a client's handshake (RFC 6455 section 4.1).
enum ClientRequest {
    /// The fields that the handshake itself is made of, or that would give its request a body.
    private static let reserved: Set<HTTPField.Name> = [
        .upgrade, .connection, .secWebSocketKey, .secWebSocketVersion, .secWebSocketAccept, .secWebSocketProtocol,
        .secWebSocketExtensions, .contentLength, .transferEncoding, .expect, .te, .trailer,
    ]

    /// The fields that a request has once at most (RFC 9110 section 5.3, RFC 6454 section 7.3).
    private static let single: [HTTPField.Name] = [.authorization, .origin, .proxyAuthorization, .userAgent]

    /// The request's bytes.
    static func bytes(
        url: WebSocketURL,
        key: String,
        subprotocols: [String],
        extensions: [ExtensionOffer],
        fields: HTTPFields
    ) throws(HandshakeError) -> [UInt8] {
        guard SubprotocolHeader.isValid(subprotocols) else {
            throw HandshakeError(.invalidRequest, "the subprotocols \(subprotocols) aren't different tokens")
        }
        let host = try host(url: url, fields: fields)
        try checkReserved(fields)
        var bytes: [UInt8] = []
        HeadWriter.append("GET \(url.requestTarget) HTTP/1.1", to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        HeadWriter.append("Host", host, to: &bytes)
        HeadWriter.append(own(key: key, subprotocols: subprotocols, extensions: extensions), to: &bytes)
        HeadWriter.append(fields.filter { $0.name.canonicalName != "host" }, to: &bytes)
        HeadWriter.appendLineEnd(to: &bytes)
        return bytes
    }

    /// The caller's Host if there is one, for servers that are reached under another name than their own.
    private static func host(url: WebSocketURL, fields: HTTPFields) throws(HandshakeError) -> String {
        let hosts = fields.hosts
        guard let host = hosts.first else { return url.hostField }
        guard hosts.count == 1, Authority(host) != nil else {
            throw HandshakeError(.invalidRequest, "the field Host is not one host with an optional port")
        }
        return host
    }

    private static func checkReserved(_ fields: HTTPFields) throws(HandshakeError) {
        for field in fields where reserved.contains(field.name) {
            throw HandshakeError(.invalidRequest, "the field \(field.name) belongs to the handshake and can't be set")
        }
        for name in single where fields[values: name].count > 1 {
            throw HandshakeError(.invalidRequest, "the field \(name) is there more than once")
        }
    }

    private static func own(key: String, subprotocols: [String], extensions: [ExtensionOffer]) -> HTTPFields {
        var fields: HTTPFields = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketKey: key, .secWebSocketVersion: "13",
        ]
        if !subprotocols.isEmpty { fields[.secWebSocketProtocol] = subprotocols.joined(separator: ", ") }
        if !extensions.isEmpty { fields[.secWebSocketExtensions] = ExtensionHeader.serialize(extensions) }
        return fields
    }
}
