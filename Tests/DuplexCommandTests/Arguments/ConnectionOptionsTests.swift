// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
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
