// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// A proxy, what it speaks, and who asks.
struct ConfiguredProxy: Sendable {
    /// What proxies speak.
    enum Kind: String, Sendable, CaseIterable {
        case http
        case socks4
        case socks4a
        case socks5
        case socks5h
    }

    let kind: Kind
    let host: String
    let port: Int
    var credentials: PasswordCredentials?
    /// Secures the connection to the proxy.
    var security: TLSOptions?

    init(kind: Kind, host: String, port: Int, credentials: PasswordCredentials? = nil, tls: TLSOptions? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
        self.security = tls
    }

    /// Reads a URL as it stands in the environment.
    init(url text: String) throws(SocketError) {
        var scheme = "http"
        var rest = text[...]
        if let end = text.range(of: "://") {
            scheme = text[..<end.lowerBound].lowercased()
            rest = text[end.upperBound...]
        }
        guard let kind = scheme == "https" ? .http : Kind(rawValue: scheme) else {
            throw Self.invalid("“\(scheme)” is none of http, https, socks4, socks4a, socks5 and socks5h")
        }
        // The rules for what may stand in a URL are those of every other.
        let authority = rest.prefix { !"/?#".contains($0) }
        let parsed: WebSocketURL
        do throws(WebSocketURLError) {
            parsed = try WebSocketURL("ws://" + authority)
        } catch {
            throw Self.invalid("it names no host with a port")
        }
        var credentials: PasswordCredentials?
        if let userInfo = parsed.userInfo {
            credentials = PasswordCredentials(userInfo: userInfo)
            if credentials == nil { throw Self.invalid("its name or password isn't percent-encoded as it should be") }
        }
        let isPortWritten = authority.last?.isNumber == true && !parsed.hostField.isEmpty && Self.hasPort(authority)
        let standard = scheme == "https" ? 443 : kind == .http ? 80 : 1_080
        self.init(
            kind: kind,
            host: parsed.host + (parsed.zone.map { "%" + $0 } ?? ""),
            port: isPortWritten ? parsed.port : standard,
            credentials: credentials,
            tls: scheme == "https" ? TLSOptions() : nil
        )
    }

    /// Whether a port stands behind the host, 80 included.
    private static func hasPort(_ authority: Substring) -> Bool {
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        guard let colon = host.lastIndex(of: ":") else { return false }
        return host.lastIndex(of: "]").map { $0 < colon } ?? true
    }

    private static func invalid(_ reason: String) -> SocketError {
        SocketError(.invalidOptions, message: "It is no URL of a proxy: \(reason).")
    }
}

extension String {
    /// Where the other text stands first.
    fileprivate func range(of other: String) -> Range<String.Index>? {
        ranges(of: other).first
    }
}

extension ConfiguredProxy: ProxyRoute {
    var endpoint: Endpoint { security == nil ? .host(host, port: port) : .tls(host, port: port) }
    var tls: TLSOptions { security ?? TLSOptions() }
    var resolvesNames: Bool { kind == .socks4 || kind == .socks5 }
    var families: AddressFamilies { kind == .socks4 || kind == .socks4a ? .ipv4 : .all }

    func conversation(with target: ProxyTarget) throws(SocketError) -> any ProxyConversation {
        do throws(ProxyError) {
            switch kind {
            case .http:
                let (host, port) = target.hostAndPort
                let authenticator = credentials.map {
                    Authenticator($0, schemes: .strongest, digest: HTTPDigest.digest, nonce: HTTPDigest.nonce)
                }
                return ProxyTalk(try HTTPTunnel(host: host, port: port, authenticator: authenticator))
            case .socks4, .socks4a:
                let user = credentials?.user ?? ""
                return ProxyTalk(try SOCKS4Handshake(address: target.socks, port: target.hostAndPort.port, user: user))
            case .socks5, .socks5h:
                let (address, port) = (target.socks, target.hostAndPort.port)
                return ProxyTalk(try SOCKS5Handshake(address: address, port: port, credentials: credentials))
            }
        } catch {
            throw error.socketError
        }
    }
}

extension ProxyTarget {
    fileprivate var hostAndPort: (host: String, port: Int) {
        switch self {
        case .host(let host, let port): (host, port)
        // A zone means nothing to another machine.
        case .address(_, let text, let port): (String(text.prefix { $0 != "%" }), port)
        }
    }

    fileprivate var socks: SOCKSAddress {
        switch self {
        case .host(let host, _): .name(host)
        case .address(let bytes, _, _): bytes.count == 4 ? .ipv4(bytes) : .ipv6(bytes)
        }
    }
}

/// What the conversations with all kinds of proxies have in common.
protocol ProxyMachine: Sendable {
    mutating func start() -> [UInt8]
    var wanted: Int { get }
    mutating func receive(_ input: Span<UInt8>, from position: inout Int) throws(ProxyError) -> ProxyStep
    mutating func finish() throws(ProxyError) -> ProxyStep
}

extension ProxyMachine {
    mutating func finish() throws(ProxyError) -> ProxyStep {
        throw ProxyError(.connectionClosed, "the proxy closed the connection before it answered")
    }
}

extension HTTPTunnel: ProxyMachine {}
extension SOCKS4Handshake: ProxyMachine {}
extension SOCKS5Handshake: ProxyMachine {}

/// Joins the rules of one kind of proxy to a connection to it.
struct ProxyTalk<Machine: ProxyMachine>: ProxyConversation {
    private var machine: Machine

    init(_ machine: Machine) {
        self.machine = machine
    }

    var wanted: Int { machine.wanted }

    mutating func start() -> [UInt8] { machine.start() }

    mutating func receive(_ bytes: Span<UInt8>, from position: inout Int) throws(SocketError) -> ProxyMove {
        do throws(ProxyError) {
            return ProxyMove(try machine.receive(bytes, from: &position))
        } catch {
            throw error.socketError
        }
    }

    mutating func finish() throws(SocketError) -> ProxyMove {
        do throws(ProxyError) {
            return ProxyMove(try machine.finish())
        } catch {
            throw error.socketError
        }
    }
}

extension ProxyMove {
    init(_ step: ProxyStep) {
        switch step {
        case .wait: self = .wait
        case .send(let bytes): self = .send(bytes)
        case .reconnect: self = .reconnect
        case .established: self = .established
        }
    }
}

extension ProxyError {
    /// The same as an error of the sockets.
    var socketError: SocketError {
        var error = SocketError(.proxyRefused, message: message + ".")
        error.proxyFailure = self
        return error
    }
}
