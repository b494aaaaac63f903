// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// What the environment says about proxies, and where that says nothing, what the desktop's settings do.
struct SystemProxies {
    private let environment: ProxyEnvironment
    private let settings: (@Sendable (String) -> [String])?

    /// Reads both by functions.
    ///
    /// - Parameters:
    ///   - variable: gives the value of a variable of the environment, or `nil`.
    ///   - settings: gives the proxies for a URL as libproxy does, and may block; `nil` where nothing can be asked.
    init(_ variable: @escaping (String) -> String?, settings: (@Sendable (String) -> [String])?) {
        environment = ProxyEnvironment(variable)
        // Settings can come from the environment there as well, without the care that a CGI program needs.
        self.settings = environment.isOfRequest ? nil : settings
    }

    /// What is chosen for a connection to a host.
    func choice(for host: String, port: Int, isSecured: Bool) throws(SocketError) -> ProxyChoice {
        switch try environment.answer(to: host, port: port, isSecured: isSecured) {
        case .direct: return .direct
        case .proxy(let proxy): return .proxy(proxy)
        case .nothing: break
        }
        guard let settings else { return .direct }
        let authority = host.contains(":") ? "[\(host.prefix { $0 != "%" })]:\(port)" : "\(host):\(port)"
        let url = "\(isSecured ? "https" : "http")://\(authority)/"
        return .asking { try Self.ways(settings(url)) }
    }

    /// The ways that a list from libproxy names; what nobody here speaks is left out.
    static func ways(_ list: [String]) throws(SocketError) -> [ProxyWay] {
        var ways: [ProxyWay] = []
        var fault: SocketError?
        for text in list {
            // A direct way may be written with a host, which means nothing.
            if text.hasPrefix("direct:") {
                ways.append(.direct)
                continue
            }
            // Without a version, as GNOME has it, it is the latest one's.
            let url = text.hasPrefix("socks://") ? "socks5h" + text.dropFirst("socks".count) : text
            do throws(SocketError) {
                ways.append(.proxy(try ConfiguredProxy(url: url)))
            } catch {
                fault = error
            }
        }
        if ways.isEmpty, let fault {
            throw SocketError(.invalidOptions, message: "The system's proxy can't be used: \(fault.message)")
        }
        return ways.isEmpty ? [.direct] : ways
    }
}

/// What the environment says about proxies.
struct ProxyEnvironment {
    private let variable: (String) -> String?

    /// Reads them by a function, which gives the value of a variable or `nil`.
    init(_ variable: @escaping (String) -> String?) {
        self.variable = variable
    }

    /// What it says about one connection.
    enum Answer {
        /// No variable is about it.
        case nothing
        /// No proxy, as to this machine, which a proxy can't reach.
        case direct
        case proxy(ConfiguredProxy)
    }

    /// Whether this is a CGI program, whose environment a client has a part in.
    var isOfRequest: Bool { variable("REQUEST_METHOD") != nil }

    /// What it says about a connection to a host.
    func answer(to host: String, port: Int, isSecured: Bool) throws(SocketError) -> Answer {
        if Self.isLocal(host) { return .direct }
        let exceptions = ProxyExceptions(value("no_proxy") ?? "")
        let names = [isSecured ? "https_proxy" : "http_proxy", "all_proxy"]
        guard let name = names.first(where: { value($0) != nil }), let text = value(name) else {
            return exceptions.contains(host, port: port) ? .direct : .nothing
        }
        if text.isEmpty || exceptions.contains(host, port: port) { return .direct }
        do throws(SocketError) {
            return .proxy(try ConfiguredProxy(url: text))
        } catch {
            throw SocketError(.invalidOptions, message: "The variable \(name) can't be used: \(error.message)")
        }
    }

    /// Whether it is this machine by its name (RFC 6761 section 6.3) or its address.
    private static func isLocal(_ host: String) -> Bool {
        if let address = try? SocketAddress(host, port: 0) { return address.unmapped.isLoopback }
        var name = host.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    private func value(_ name: String) -> String? {
        if let value = variable(name) { return value }
        // The server of a CGI program makes HTTP_PROXY of a request's field Proxy.
        if name == "http_proxy" && isOfRequest { return nil }
        return variable(name.uppercased())
    }
}
