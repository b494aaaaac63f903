// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import DuplexWebSockets
import DuplexWire

extension RawPeer {
    /// The key of the example in RFC 6455 section 1.3, whose accept value is known.
    package static let sampleKey = "dGhlIHNhbXBsZSBub25jZQ=="
    package static let sampleAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    /// A request for a WebSocket, with further fields if there are any.
    package static func upgradeRequest(_ path: String = "/", _ headers: String...) -> String {
        let headers = headers.map { $0 + "\r\n" }.joined()
        return "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: \(sampleKey)\r\nSec-WebSocket-Version: 13\r\n\(headers)\r\n"
    }

    /// Connects and opens a WebSocket as a client.
    package static func openWebSocket(to address: SocketAddress, _ path: String = "/") async throws -> RawPeer {
        let peer = try await connect(to: address)
        let response = try await peer.response(to: upgradeRequest(path))
        guard response.status == 101, response["Sec-WebSocket-Accept"] == sampleAccept else {
            throw UnexpectedResponse(head: response.head)
        }
        return peer
    }

    /// What a server answered instead of a handshake.
    package struct UnexpectedResponse: Error {
        package let head: String
    }

    /// Reads a client's request and answers it with a 101, and further bytes in the same piece.
    ///
    /// - Returns: the request's head.
    @discardableResult
    package func acceptWebSocket(headers: String..., followedBy frames: [RawFrame] = []) async throws -> String {
        let request = try await readHead()
        let head = Self.upgradeResponse(to: request, headers)
        try await send(Array(head.utf8) + frames.flatMap { encoded($0) })
        return request
    }

    /// The 101 that answers a client's request, with further fields if there are any.
    package static func upgradeResponse(to request: String, _ headers: [String] = []) -> String {
        let headers = headers.map { $0 + "\r\n" }.joined()
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(accept(for: request))\r\n\(headers)\r\n"
    }

    /// The accept value that answers a request's key.
    package static func accept(for request: String) -> String {
        let lines = request.split(separator: "\r\n")
        let line = lines.first { $0.lowercased().hasPrefix("sec-websocket-key:") } ?? ""
        let key = line.dropFirst("sec-websocket-key:".count).drop { $0 == " " }
        return AcceptKey.acceptValue(for: String(key), digest: SHA1.digest)
    }
}
