// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire

/// The proxy that connections are made through.
///
/// A proxy sees where connections go, and of those without TLS all that they carry. What is behind it is reached by its
/// rules: names are looked up by the proxy, except with ``socks4(_:port:user:)`` and ``socks5(_:port:credentials:)``.
/// Connections to Unix sockets never use one.
public struct ProxySettings: Sendable {
    enum Kind: Sendable {
        case none
        case environment
        case system
        case fixed(ConfiguredProxy, ProxyExceptions)
    }

    let kind: Kind

    /// No proxy.
    public static let none = ProxySettings(kind: .none)

    /// What the variables of the environment say, read again for each connection.
    ///
    /// `https_proxy` for connections with TLS and `http_proxy` for those without, `all_proxy` where these aren't set, each
    /// in lower or in upper case; the former goes first. `HTTP_PROXY` in upper case is ignored where `REQUEST_METHOD` is set,
    /// since the client of a CGI program can set it (CVE-2016-5385). The values are as for ``url(_:)``; an empty one means
    /// none. `no_proxy` names what is connected to directly; see ``ProxyExceptions``. So is this machine always: `localhost`, names
    /// below it, 127.0.0.0/8 and ::1.
    public static let fromEnvironment = ProxySettings(kind: .environment)

    /// What the system says: the variables of the environment, and where none of them is about a connection, the desktop's settings.
    ///
    /// The variables are those of ``fromEnvironment``, and this machine is connected to directly, as there. The settings are read
    /// by libproxy: those of GNOME, KDE and macOS, proxy auto-configuration (PAC) among them where it can run scripts. Debian has
    /// it as `libproxy1v5`, with GNOME's settings by `libproxy1-plugin-gsettings` and PAC by `libproxy1-plugin-webkit`; Homebrew
    /// as `libproxy`. Where it isn't installed this is the same as ``fromEnvironment``; see ``canReadSystem``.
    ///
    /// It is asked for each connection, on a thread of its own, within the connection's `timeout`. Of several proxies the next one
    /// is tried when one can't be reached or doesn't answer; each has an equal share of the time that is left. A `socks:` without a version is SOCKS 5
    /// whose proxy looks names up. An answer that can't be used is an error with `SocketError.Code.invalidOptions`.
    ///
    /// Hazard: libproxy is loaded into the process when this is first used, and what it needs with it. A script is code from the
    /// network, which decides where connections go.
    public static let system = ProxySettings(kind: .system)

    /// Whether ``system`` has the desktop's settings, which needs libproxy.
    ///
    /// Hazard: libproxy is loaded into the process by this.
    public static var canReadSystem: Bool { ProxyLibrary.shared != nil }

    /// An HTTP proxy, which is asked for a tunnel by CONNECT (RFC 9110 section 9.3.6), for connections without TLS as well.
    ///
    /// - Parameters:
    ///   - host: the proxy, by name or by address.
    ///   - port: its port.
    ///   - credentials: what it gets when it asks (407): by Digest if it can (RFC 7616), or else by Basic.
    ///   - tls: secures the connection to the proxy itself; `nil`, the default, for none. What is behind the proxy can be
    ///     secured as well, within that: `wss:` goes through it.
    /// - Returns: the settings.
    public static func http(
        _ host: String,
        port: Int,
        credentials: PasswordCredentials? = nil,
        tls: TLSOptions? = nil
    ) -> ProxySettings {
        fixed(ConfiguredProxy(kind: .http, host: host, port: port, credentials: credentials, tls: tls))
    }

    /// A SOCKS proxy of version 4: names are looked up on this side, and IPv4 is all it knows.
    public static func socks4(_ host: String, port: Int = 1_080, user: String = "") -> ProxySettings {
        let credentials = PasswordCredentials(user: user, password: "")
        return fixed(ConfiguredProxy(kind: .socks4, host: host, port: port, credentials: credentials))
    }

    /// A SOCKS proxy of version 4a, which looks names up; IPv4 is all it knows of addresses.
    public static func socks4a(_ host: String, port: Int = 1_080, user: String = "") -> ProxySettings {
        let credentials = PasswordCredentials(user: user, password: "")
        return fixed(ConfiguredProxy(kind: .socks4a, host: host, port: port, credentials: credentials))
    }

    /// A SOCKS proxy of version 5 (RFC 1928), for which names are looked up on this side.
    ///
    /// - Parameters:
    ///   - host: the proxy, by name or by address.
    ///   - port: its port; 1080.
    ///   - credentials: what it gets if it wants them, in the clear (RFC 1929).
    /// - Returns: the settings.
    public static func socks5(
        _ host: String,
        port: Int = 1_080,
        credentials: PasswordCredentials? = nil
    ) -> ProxySettings {
        fixed(ConfiguredProxy(kind: .socks5, host: host, port: port, credentials: credentials))
    }

    /// A SOCKS proxy of version 5, which looks names up; otherwise as ``socks5(_:port:credentials:)``.
    public static func socks5h(
        _ host: String,
        port: Int = 1_080,
        credentials: PasswordCredentials? = nil
    ) -> ProxySettings {
        fixed(ConfiguredProxy(kind: .socks5h, host: host, port: port, credentials: credentials))
    }

    /// A proxy as it stands in the environment: `scheme://user:password@host:port`.
    ///
    /// The schemes are `http` (which may be left out), `https` for an HTTP proxy that is reached by TLS, `socks4`, `socks4a`,
    /// `socks5` and `socks5h`. The port is 80, 443 or 1080 where none is written.
    ///
    /// - Parameter text: the URL.
    /// - Returns: the settings.
    /// - Throws: `SocketError` with `SocketError.Code.invalidOptions`; its message doesn't quote a password.
    public static func url(_ text: String) throws(SocketError) -> ProxySettings {
        fixed(try ConfiguredProxy(url: text))
    }

    /// The same proxy, with exceptions.
    ///
    /// - Parameter exceptions: what is connected to directly; see ``ProxyExceptions``.
    /// - Returns: the settings; of those from the environment or the system the same, which have their own.
    public func except(_ exceptions: ProxyExceptions) -> ProxySettings {
        guard case .fixed(let proxy, _) = kind else { return self }
        return ProxySettings(kind: .fixed(proxy, exceptions))
    }

    private static func fixed(_ proxy: ConfiguredProxy) -> ProxySettings {
        ProxySettings(kind: .fixed(proxy, ProxyExceptions("")))
    }
}

extension ProxySettings: ProxyPolicy {
    package func choice(for endpoint: Endpoint) throws(SocketError) -> ProxyChoice {
        guard let (host, port) = endpoint.hostAndPort else { return .direct }
        var settings: (@Sendable (String) -> [String])?
        switch kind {
        case .none: return .direct
        case .fixed(let proxy, let exceptions): return exceptions.contains(host, port: port) ? .direct : .proxy(proxy)
        case .environment: break
        // Loaded on the thread that blocks.
        case .system: settings = { ProxyLibrary.shared?.proxies(for: $0) ?? ["direct://"] }
        }
        return try SystemProxies(EnvironmentVariables.value, settings: settings)
            .choice(for: host, port: port, isSecured: endpoint.serverName != nil)
    }
}

extension ConnectOptions {
    /// The proxy that the connection is made through.
    ///
    /// Default: none; that of a WebSocket has the environment's.
    ///
    /// `timeout` holds for all of it. `Socket.remoteAddress` is the proxy's then, and an error of the
    /// proxy's has the code `SocketError.Code.proxyRefused`.
    public var proxy: ProxySettings {
        get { proxying as? ProxySettings ?? .none }
        set { proxying = newValue }
    }
}

/// The hosts that are connected to directly, without the proxy: the value of `no_proxy`.
///
/// A list with commas or blanks between its members:
///
/// - `*` is everything;
/// - `example.com` is that host and all below it, as are `.example.com` and `*.example.com`;
/// - `192.0.2.1`, `[2001:db8::1]` are addresses, and `10.0.0.0/8` all of a network. A name is not looked up to see whether it
///   has one of these;
/// - any of them but networks with `:port` behind is for that port alone.
///
/// Invalid members are ignored.
public struct ProxyExceptions: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    private enum Rule: Sendable {
        case everything
        case domain(String, port: Int?)
        case network(IPNetwork, port: Int?)
    }

    private let rules: [Rule]
    /// The list as it was given.
    public let description: String

    /// Reads a list.
    ///
    /// - Parameter list: as it stands in the environment; of more than 1,000 members the first ones count.
    public init(_ list: String) {
        description = list
        rules = list.split(maxSplits: 1_000) { ", \t".contains($0) }.compactMap(Self.rule)
    }

    /// Reads a list that stands in a program.
    public init(stringLiteral list: String) {
        self.init(list)
    }

    /// Whether a host is connected to directly.
    ///
    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - port: the port.
    /// - Returns: whether one of the members is about it.
    package func contains(_ host: String, port: Int) -> Bool {
        let address = try? SocketAddress(host, port: 0)
        let name = Self.plain(host)
        return rules.contains { rule in
            switch rule {
            case .everything: true
            case .network(let network, let only):
                (only ?? port) == port && address.map(network.contains) == true
            case .domain(let domain, let only):
                (only ?? port) == port && address == nil && (name == domain || name.hasSuffix("." + domain))
            }
        }
    }

    private static func rule(_ text: Substring) -> Rule? {
        if text == "*" { return .everything }
        if let network = try? IPNetwork(String(text)) { return .network(network, port: nil) }
        let (host, port) = separated(text)
        if let port, !(1...65_535).contains(port) { return nil }
        let inner = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
        if let network = try? IPNetwork(String(inner)) { return .network(network, port: port) }
        var name = plain(String(host))
        if name.hasPrefix("*.") { name.removeFirst() }
        if name.hasPrefix(".") { name.removeFirst() }
        return name.isEmpty || name.contains { "/*:[]".contains($0) } ? nil : .domain(name, port: port)
    }

    /// What stands before and behind the last colon, if digits do.
    private static func separated(_ text: Substring) -> (Substring, Int?) {
        guard let colon = text.lastIndex(of: ":") else { return (text, nil) }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return (text, nil) }
        return (text[..<colon], Int(digits) ?? 0)
    }

    /// In lower case, and without the dot that ends a full name.
    private static func plain(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
