// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The address that a SOCKS proxy is asked to connect to.
public enum SOCKSAddress: Sendable, Hashable {
    /// The four bytes of an IPv4 address.
    case ipv4([UInt8])
    /// The sixteen bytes of an IPv6 address.
    case ipv6([UInt8])
    /// A name, which the proxy looks up.
    case name(String)
}

/// Asks a SOCKS proxy of version 4 for a connection ("SOCKS: A protocol for TCP proxy across firewalls", 1992), or of its
/// extension 4a, by which the proxy looks names up.
///
/// It knows IPv4 only, and a user's name without a password.
public struct SOCKS4Handshake: Sendable {
    private let request: [UInt8]
    private var reply: [UInt8] = []
    private var isDone = false

    private static let replySize = 8

    /// Prepares a request.
    ///
    /// - Parameters:
    ///   - address: Where to connect to; a name needs a proxy that speaks 4a.
    ///   - port: The port, 1 to 65,535.
    ///   - user: The user's name; empty for none.
    /// - Throws: ``ProxyError`` with the code `invalidRequest` for an IPv6 address, and for a name or a user that is
    ///   empty, has a zero, or is longer than 255 bytes.
    public init(address: SOCKSAddress, port: Int, user: String = "") throws(ProxyError) {
        guard (1...65_535).contains(port) else { throw ProxyError(.invalidRequest, "\(port) is no port") }
        guard user.utf8.count <= 255, !user.utf8.contains(0) else {
            throw ProxyError(.invalidRequest, "the user's name is longer than 255 bytes or has a zero")
        }
        var bytes: [UInt8] = [4, 1, UInt8(port >> 8), UInt8(port & 0xFF)]
        var name: [UInt8] = []
        switch address {
        case .ipv4(let address) where address.count == 4: bytes += address
        case .name(let text):
            guard SOCKS5Handshake.isName(text) else {
                throw ProxyError(.invalidRequest, "\(Quotation.of(text)) is no name that a SOCKS proxy can be given")
            }
            // 4a: an address that no machine has, 0.0.0.x, says that a name follows.
            bytes += [0, 0, 0, 1]
            name = Array(text.utf8) + [0]
        case .ipv4, .ipv6: throw ProxyError(.invalidRequest, "SOCKS 4 knows IPv4 addresses only")
        }
        request = bytes + Array(user.utf8) + [0] + name
    }

    /// The request to send on a new connection to the proxy.
    public mutating func start() -> [UInt8] {
        reply = []
        isDone = false
        return request
    }

    /// How many bytes may be taken from the connection without taking one of the tunnel's: at least 1.
    public var wanted: Int { max(1, Self.replySize - reply.count) }

    /// Takes input up to the end of the answer, and says what to do next.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: What to do next; after ``ProxyStep/established`` nothing more is taken.
    /// - Throws: ``ProxyError``.
    public mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep {
        if isDone { return .wait }
        _ = input.copy(upTo: Self.replySize - reply.count, from: &position, to: &reply)
        if let first = reply.first, first != 0 {
            throw ProxyError(.malformedAnswer, "the proxy doesn't speak SOCKS 4: its answer begins with \(first)")
        }
        guard reply.count == Self.replySize else { return .wait }
        switch reply[1] {
        case 90:
            isDone = true
            return .established
        case 91: throw ProxyError(.refused, "the proxy refused the connection, or couldn't make it (91)")
        case 92, 93: throw ProxyError(.unauthorized, "the proxy couldn't confirm the user by ident (\(reply[1]))")
        default: throw ProxyError(.malformedAnswer, "the proxy answered \(reply[1]), which SOCKS 4 doesn't know")
        }
    }
}
