// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import Testing

@testable import DuplexCommand

@Suite("The last requests on the demo page", .timeLimit(minutes: 1))
struct DemoLogTests {
    @Test("Each request is an event, also of what came before, without its query and who asked")
    func events() async throws {
        var server = WebServer(port: 0)
        DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async)
        try await WebServer.testing(server) { client async throws in
            _ = try await client.get("/?token=secret")
            let stream = try await client.events("/demo/log")
            let first = try #require(try await stream.nextData())
            #expect(first.hasPrefix(#"{"method":"GET","path":"/","status":200,"microseconds":"#))
            #expect(first.contains(#""bytes":\#(DemoPage.text("index.html").utf8.count)"#))
            #expect(!first.contains("secret") && !first.contains("127.0.0.1"))
            _ = try await client.post("/demo/upload", body: [1, 2, 3])
            #expect(try await stream.nextData()?.contains(#""path":"/demo/upload","status":200"#) == true)
            await stream.close()
        }
    }

    @Test("What scripts/bench asks for isn't among them")
    func benchmark() async throws {
        var server = WebServer(port: 0)
        DemoServer.addRoutes(to: &server, echoPath: "/echo", style: .async)
        try await WebServer.testing(server) { client async throws in
            for path in ["/hello", "/hello/async", "/demo/icon.svg"] { _ = try await client.get(path) }
            let stream = try await client.events("/demo/log")
            #expect(try await stream.nextData()?.contains("icon.svg") == true)
            await stream.close()
        }
    }
}
