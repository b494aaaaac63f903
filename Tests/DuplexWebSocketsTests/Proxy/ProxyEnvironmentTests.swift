// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexWebSockets

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
