// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexServer
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexCommand

@Suite("A connection on the command line")
struct ConnectionOptionsTests {
    @Test("Without arguments the library's defaults hold")
    func defaults() throws {
        let options = try ConnectionOptions.parse([]).webSocketOptions
        #expect(options.limits == WebSocketOptions().limits)
        #expect(options.connectTimeout == WebSocketOptions().connectTimeout)
        #expect(options.headers.isEmpty && options.subprotocols.isEmpty)
    }

    @Test("Every argument reaches the options, and what is repeated keeps its order")
    func all() throws {
        let options = try ConnectionOptions.parse([
            "--header", "X-One: 1", "--header", "X-One: 2", "--subprotocol", "b", "--subprotocol", "a",
            "--timeout", "250ms", "--limits", "local", "--origin", "https://page.test", "--user-agent", "probe/1",
            "--redirects", "3", "--cookie", "a=1", "--cookie", "b=2", "--compression", "required",
        ]).webSocketOptions
        #expect(options.headers.map(\.value) == ["1", "2", "a=1", "b=2"])
        #expect(options.headers[.cookie] == "a=1; b=2" && options.compression == .required)
        #expect(options.subprotocols == ["b", "a"])
        #expect(options.connectTimeout == .milliseconds(250))
        #expect(options.limits == .local)
        #expect(options.origin == "https://page.test" && options.userAgent == "probe/1" && options.redirects == 3)
    }

    @Test("Header, subprotocol, user and insecure have short options")
    func shortOptions() throws {
        let parsed = try ConnectionOptions.parse(["-H", "X: 1", "-s", "a", "-s", "b", "-u", "ann:x:y", "-k"])
        #expect(parsed.headers.map(\.field.value) == ["1"] && parsed.subprotocols == ["a", "b"])
        #expect(parsed.user == "ann:x:y" && parsed.tls.insecure)
    }

    @Test(
        "What can't be is refused",
        arguments: [
            ["--redirects", "-1"], ["--user", "name"], ["--proxy", "ftp://a"], ["--cookie", "a"],
            ["--cookie", "a=1; b=2"],
            ["--user", "a:b", "--bearer", "c"], ["--timeout", "0"], ["--timeout=-1"], ["--timeout=-1s"],
        ]
    )
    func refusals(arguments: [String]) {
        #expect(throws: (any Error).self) { try ConnectionOptions.parse(arguments) }
    }
}

@Suite("A header field on the command line")
struct HeaderArgumentTests {
    @Test(
        "A name, a colon and a value make a field",
        arguments: [
            ("Name: value", "Name", "value"), ("name:value", "name", "value"), ("X-A:  \t spaced", "X-A", "spaced"),
            ("Authorization: Bearer a:b", "Authorization", "Bearer a:b"), ("Empty:", "Empty", ""),
        ]
    )
    func accepted(text: String, name: String, value: String) {
        let field = HeaderArgument(argument: text)?.field
        #expect(field?.name.rawName == name)
        #expect(field?.value == value)
    }

    @Test(
        "What would break out of the field is refused",
        arguments: [
            "", "novalue", ": value", "two words: x", "Name: a\r\nInjected: b", "Name: a\nb", "Na\u{0}me: x",
            "Name: \u{0}",
        ]
    )
    func refused(text: String) {
        #expect(HeaderArgument(argument: text) == nil)
    }
}

@Suite("A proxy on the command line")
struct ProxyArgumentTests {
    @Test(
        "Proxies are URLs, none, or those of the environment or the system",
        arguments: [
            "none", "environment", "system", "http://proxy.test:3128", "https://user:secret@proxy.test",
            "socks5h://[::1]:1080",
            "socks4a://proxy.test",
        ]
    )
    func valid(text: String) {
        #expect(ProxyArgument(argument: text)?.defaultValueDescription == text)
    }

    @Test(
        "What isn't a URL of a proxy is refused",
        arguments: ["", "ftp://proxy.test", "socks5h://", "http://proxy.test:0"]
    )
    func invalid(text: String) {
        #expect(ProxyArgument(argument: text) == nil)
    }
}

@Suite("Compression on the command line")
struct CompressionArgumentTests {
    @Test("By default a client offers it, and a server declines it")
    func defaults() throws {
        let options = try ConnectionOptions.parse([]).webSocketOptions
        let serve = try Serve.parse([])
        #expect(options.compression == .enabled)
        #expect(serve.options.compression == nil)
        let server = try serve.options.server(serving: nil, tls: nil, log: nil)
        #expect(server.webSockets.compression == .disabled)
    }

    @Test(
        "Each name stands for a choice",
        arguments: [("off", WebSocketCompression.disabled), ("on", .enabled), ("required", .required)]
    )
    func names(name: String, compression: WebSocketCompression) throws {
        let options = try ConnectionOptions.parse(["--compression", name]).webSocketOptions
        let serve = try Serve.parse(["--compression", name])
        #expect(options.compression == compression)
        #expect(serve.options.compression?.compression == compression)
    }

    @Test("Another name is refused")
    func refused() {
        #expect(throws: (any Error).self) { try ConnectionOptions.parse(["--compression", "zstd"]) }
    }
}
