// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexWire

/// Asks a SOCKS proxy of version 5 for a connection (RFC 1928), with a name and a password if it wants them (RFC 1929).
///
/// Hazard: the password goes to the proxy in the clear.
package struct SOCKS5Handshake: Sendable {
    private enum State {
        case method
        case authentication
        case reply
        case done
    }

    private let credentials: PasswordCredentials?
    private let request: [UInt8]
    private var state = State.method
    private var buffer: [UInt8] = []

    /// Prepares a request.
    ///
    /// - Parameters:
    ///   - address: Where to connect to; a name is looked up by the proxy.
    ///   - port: The port, 1 to 65,535.
    ///   - credentials: A name and a password of 1 to 255 bytes each; nil to offer no authentication only.
    /// - Throws: ``ProxyError`` with the code `invalidRequest` for what the protocol has no room for.
    package init(address: SOCKSAddress, port: Int, credentials: PasswordCredentials? = nil) throws(ProxyError) {
        guard (1...65_535).contains(port) else { throw ProxyError(.invalidRequest, "\(port) is no port") }
        if let credentials {
            let lengths = [credentials.user.utf8.count, credentials.password.utf8.count]
            guard lengths.allSatisfy((1...255).contains) else {
                let message = "a name and a password for SOCKS 5 have 1 to 255 bytes each (RFC 1929)"
                throw ProxyError(.invalidRequest, message)
            }
        }
        self.credentials = credentials
        var bytes: [UInt8] = [5, 1, 0]
        switch address {
        case .ipv4(let address) where address.count == 4: bytes += [1] + address
        case .ipv6(let address) where address.count == 16: bytes += [4] + address
        case .name(let name) where Self.isName(name): bytes += [3, UInt8(name.utf8.count)] + Array(name.utf8)
        default: throw ProxyError(.invalidRequest, "that is no address or name that a SOCKS proxy can be given")
        }
        request = bytes + [UInt8(port >> 8), UInt8(port & 0xFF)]
    }

    /// Whether a name has 1 to 255 bytes, and no control or blank.
    static func isName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// The greeting to send on a new connection to the proxy: the methods of authentication.
    package mutating func start() -> [UInt8] {
        state = .method
        buffer = []
        return credentials == nil ? [5, 1, 0] : [5, 2, 0, 2]
    }

    /// How many bytes may be taken from the connection without taking one of the tunnel's: at least 1.
    package var wanted: Int { max(1, size - buffer.count) }

    /// How many bytes the answer at hand has, as far as is known yet.
    private var size: Int {
        guard case .reply = state else { return 2 }
        // RFC 1928 section 6: the length of the address is known from its type, or from its first byte.
        guard buffer.count >= 5 else { return 5 }
        switch buffer[3] {
        case 1: return 10
        case 4: return 22
        default: return 7 + Int(buffer[4])
        }
    }

    /// Takes input up to the end of the answer, and says what to do next.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: What to do next; after ``ProxyStep/established`` nothing more is taken.
    /// - Throws: ``ProxyError``.
    package mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep {
        if case .done = state { return .wait }
        while buffer.count < size, position < input.count {
            _ = input.copy(upTo: size - buffer.count, from: &position, to: &buffer)
            try check()
        }
        guard buffer.count == size else { return .wait }
        let answer = buffer
        buffer = []
        return try take(answer)
    }

    /// A fault is reported as soon as it is found, and not only when all of the announced length has arrived.
    private func check() throws(ProxyError) {
        let version: UInt8 = if case .authentication = state { 1 } else { 5 }
        if let first = buffer.first, first != version {
            throw ProxyError(.malformedAnswer, "the proxy doesn't speak SOCKS 5: its answer begins with \(first)")
        }
        guard case .reply = state, buffer.count >= 2 else { return }
        if buffer[1] != 0 { throw Self.refusal(buffer[1]) }
        if buffer.count >= 4, ![1, 3, 4].contains(buffer[3]) {
            throw ProxyError(.malformedAnswer, "the proxy's answer has an address of the unknown type \(buffer[3])")
        }
    }

    private mutating func take(_ answer: [UInt8]) throws(ProxyError) -> ProxyStep {
        switch state {
        case .method:
            switch answer[1] {
            case 0:
                state = .reply
                return .send(request)
            case 2:
                guard let credentials else { break }
                state = .authentication
                let user = Array(credentials.user.utf8)
                let password = Array(credentials.password.utf8)
                return .send([1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
            case 0xFF:
                let wants = credentials == nil ? "a name and a password, or another proof" : "another proof"
                throw ProxyError(.unauthorized, "the proxy lets nobody in like this: it wants \(wants)")
            default: break
            }
            throw ProxyError(.malformedAnswer, "the proxy chose the method \(answer[1]), which wasn't offered")
        case .authentication:
            guard answer[1] == 0 else {
                throw ProxyError(.unauthorized, "the proxy refused the name or the password (\(answer[1]))")
            }
            state = .reply
            return .send(request)
        case .reply:
            state = .done
            return .established
        case .done: return .wait
        }
    }

    /// RFC 1928 section 6.
    private static func refusal(_ code: UInt8) -> ProxyError {
        switch code {
        case 1: ProxyError(.refused, "the proxy failed (1)")
        case 2: ProxyError(.forbidden, "the proxy's rules don't allow the connection (2)")
        case 3: ProxyError(.unreachable, "the proxy found no way to the network (3)")
        case 4: ProxyError(.unreachable, "the proxy found no way to the host (4)")
        case 5: ProxyError(.unreachable, "the target refused the proxy's connection (5)")
        case 6: ProxyError(.unreachable, "the target didn't answer the proxy in time (6)")
        case 7: ProxyError(.refused, "the proxy doesn't know how to connect (7)")
        case 8: ProxyError(.refused, "the proxy doesn't know addresses of that kind (8)")
        default: ProxyError(.refused, "the proxy refused with the unknown code \(code)")
        }
    }
}

/// The address that a SOCKS proxy is asked to connect to.
package enum SOCKSAddress: Sendable, Hashable {
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
package struct SOCKS4Handshake: Sendable {
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
    package init(address: SOCKSAddress, port: Int, user: String = "") throws(ProxyError) {
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
    package mutating func start() -> [UInt8] {
        reply = []
        isDone = false
        return request
    }

    /// How many bytes may be taken from the connection without taking one of the tunnel's: at least 1.
    package var wanted: Int { max(1, Self.replySize - reply.count) }

    /// Takes input up to the end of the answer, and says what to do next.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: What to do next; after ``ProxyStep/established`` nothing more is taken.
    /// - Throws: ``ProxyError``.
    package mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep {
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
