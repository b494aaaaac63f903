// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization
import Testing

@testable import DuplexWebSockets

@Suite("Proxies from the system")
struct SystemProxiesTests {
    /// What was chosen, and what the settings were asked.
    private func choice(
        _ variables: [String: String] = [:],
        to host: String = "example.com",
        port: Int = 80,
        isSecured: Bool = false,
        settings list: [String] = ["http://desk:3128"]
    ) throws -> (ways: [String], asked: [String]) {
        let asked = Mutex<[String]>([])
        let proxies = SystemProxies {
            variables[$0]
        } settings: { url in
            asked.withLock { $0.append(url) }
            return list
        }
        let choice = try proxies.choice(for: host, port: port, isSecured: isSecured)
        return (try names(choice), asked.withLock { $0 })
    }

    private func names(_ choice: ProxyChoice) throws -> [String] {
        switch choice {
        case .direct: ["direct"]
        case .proxy(let route): [name(route)]
        case .asking(let ask): try ask().map(name)
        }
    }

    private func name(_ way: ProxyWay) -> String {
        switch way {
        case .direct: "direct"
        case .proxy(let route): name(route)
        }
    }

    private func name(_ route: any ProxyRoute) -> String {
        "\((route as? ConfiguredProxy)?.kind.rawValue ?? "another") \(route.endpoint)"
    }

    @Test("The settings are asked where no variable is about the connection")
    func order() throws {
        let unset = try choice()
        #expect(unset.ways == ["http desk:3128"] && unset.asked == ["http://example.com:80/"])
        let other = try choice(["https_proxy": "a:1"])
        #expect(other.ways == ["http desk:3128"])
        let secured = try choice(["https_proxy": "a:1"], port: 443, isSecured: true)
        #expect(secured.ways == ["http a:1"] && secured.asked.isEmpty)
        #expect(try choice(["https_proxy": ""], isSecured: true).ways == ["direct"])
        #expect(try choice(["no_proxy": "example.com"]).ways == ["direct"])
        #expect(try choice(["no_proxy": "example.org"]).ways == ["http desk:3128"])
    }

    @Test("They are asked as for a page, and without the zone of an address")
    func questions() throws {
        #expect(try choice(to: "example.com", port: 8_443, isSecured: true).asked == ["https://example.com:8443/"])
        #expect(try choice(to: "fe80::1%eth0", port: 81).asked == ["http://[fe80::1]:81/"])
    }

    @Test("This machine is connected to directly", arguments: ["localhost", "127.0.0.1", "::1"])
    func local(host: String) throws {
        let local = try choice(to: host)
        #expect(local.ways == ["direct"] && local.asked.isEmpty)
    }

    @Test("In a CGI program, whose environment they may be read from, they aren't asked")
    func programs() throws {
        let program = try choice(["REQUEST_METHOD": "GET", "HTTP_PROXY": "evil:1"])
        #expect(program.ways == ["direct"] && program.asked.isEmpty)
        #expect(
            try names(SystemProxies({ _ in nil }, settings: nil).choice(for: "a.test", port: 80, isSecured: false)) == [
                "direct"
            ]
        )
    }

    @Test("A list is read in its order, without what nobody here speaks")
    func lists() throws {
        let list = [
            "http://a:1", "socks://b:2", "rtsp://c:3", "socks4://d:4", "https://e", "direct://", "direct://f:5",
        ]
        let ways = try choice(settings: list).ways
        #expect(ways == ["http a:1", "socks5h b:2", "socks4 d:4", "http tls://e:443", "direct", "direct"])
        #expect(try choice(settings: []).ways == ["direct"])
    }

    @Test("A list that can't be used is an error, without its passwords")
    func faults() {
        let error = #expect(throws: SocketError.self) { _ = try choice(settings: ["rtsp://user:secret@a:1"]) }
        #expect(error?.code == .invalidOptions)
        #expect(error?.message.contains("rtsp") == true)
        #expect(error?.message.contains("secret") == false)
    }
}

@Suite("Proxies from the environment")
struct ProxyEnvironmentTests {
    private func host(
        _ variables: [String: String],
        to target: String = "example.com",
        isSecured: Bool = false
    ) throws -> String? {
        let environment = ProxyEnvironment { variables[$0] }
        guard
            case .proxy(let proxy) = try environment.answer(
                to: target,
                port: isSecured ? 443 : 80,
                isSecured: isSecured
            )
        else {
            return nil
        }
        return proxy.host
    }

    @Test("The variable of the kind goes first, then the one for all, lower case before upper case")
    func order() throws {
        #expect(try host([:]) == nil)
        #expect(try host(["http_proxy": "http://a:1", "all_proxy": "http://b:1"]) == "a")
        #expect(try host(["https_proxy": "http://a:1", "all_proxy": "http://b:1"]) == "b")
        #expect(try host(["https_proxy": "http://a:1", "ALL_PROXY": "http://b:1"], isSecured: true) == "a")
        #expect(try host(["HTTPS_PROXY": "a:1", "https_proxy": "b:1"], isSecured: true) == "b")
        #expect(try host(["HTTP_PROXY": "a:1"]) == "a")
        #expect(try host(["http_proxy": "", "HTTP_PROXY": "a:1", "all_proxy": "b:1"]) == nil)
    }

    @Test("In a CGI program the variable that a client can set is ignored")
    func programs() throws {
        #expect(try host(["HTTP_PROXY": "a:1", "REQUEST_METHOD": "GET"]) == nil)
        #expect(try host(["http_proxy": "a:1", "REQUEST_METHOD": "GET"]) == "a")
        #expect(try host(["HTTPS_PROXY": "a:1", "REQUEST_METHOD": "GET"], isSecured: true) == "a")
    }

    @Test("What no_proxy names is connected to directly")
    func exceptions() throws {
        #expect(try host(["http_proxy": "a:1", "no_proxy": "example.com"]) == nil)
        #expect(try host(["http_proxy": "a:1", "NO_PROXY": "*"]) == nil)
        #expect(try host(["http_proxy": "a:1", "no_proxy": "other.com", "NO_PROXY": "*"]) == "a")
    }

    @Test(
        "This machine is connected to directly, whatever the variables say",
        arguments: ["localhost", "LocalHost.", "app.localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
    )
    func local(target: String) throws {
        #expect(try host(["all_proxy": "a:1"], to: target) == nil)
        #expect(try host(["all_proxy": "a:1"], to: target.filter { $0 != ":" } + "x") == "a")
    }

    @Test("What can't be understood is an error that names the variable and no password")
    func faults() {
        let error = #expect(throws: SocketError.self) {
            _ = try host(["http_proxy": "gopher://user:secret@a"])
        }
        #expect(error?.code == .invalidOptions)
        #expect(error?.message.contains("http_proxy") == true)
        #expect(error?.message.contains("secret") == false)
    }
}
