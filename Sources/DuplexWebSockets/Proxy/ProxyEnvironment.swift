// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

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
