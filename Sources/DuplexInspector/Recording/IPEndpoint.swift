// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// An IP address and a port in a packet; both ends of a connection have addresses of one kind.
struct IPEndpoint: Equatable {
    /// 4 or 16.
    var bytes: [UInt8]
    var port: UInt16

    /// The ends of a connection.
    ///
    /// - Parameters:
    ///   - client: the client's address, if it is known; one for documents (RFC 5737) stands for it otherwise.
    ///   - server: the server's.
    ///   - clientPort: for a client whose port isn't known.
    ///   - serverPort: for a server whose port isn't known.
    /// - Returns: the client's end and the server's.
    static func pair(
        client: SocketAddress?,
        server: SocketAddress?,
        clientPort: UInt16,
        serverPort: UInt16
    ) -> (client: IPEndpoint, server: IPEndpoint) {
        var one = IPEndpoint(client, else: [192, 0, 2, 1], clientPort)
        var other = IPEndpoint(server, else: [192, 0, 2, 2], serverPort)
        if one.bytes.count != other.bytes.count {
            one.mapToIPv6()
            other.mapToIPv6()
        }
        if one == other { one.port = one.port == .max ? 1 : one.port + 1 }
        return (one, other)
    }

    private init(_ address: SocketAddress?, else bytes: [UInt8], _ port: UInt16) {
        let known = address?.bytes ?? []
        self.bytes = known.isEmpty ? bytes : known
        self.port = known.isEmpty ? port : UInt16(clamping: address?.port ?? 0)
        if self.port == 0 { self.port = port }
    }

    /// IPv4 within IPv6 (RFC 4291 section 2.5.5.2).
    private mutating func mapToIPv6() {
        if bytes.count == 4 { bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes }
    }
}
