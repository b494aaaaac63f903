// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("The last requests", .timeLimit(minutes: 1))
struct RequestHistoryTests {
    @Test("Requests are kept while somebody looks, and not before or behind that")
    func looking() async throws {
        let history = RequestHistory(RequestHistoryOptions(), grace: .zero)
        var server = WebServer(port: 0)
        server.use(.observed(by: history))
        server.get("/a") { _ in "ok" }
        let secret = RouteOption.before { request in
            request[SecretRequest.self] = true
            return nil
        }
        server.get("/secret", secret) { _ in "ok" }
        try await WebServer.testing(server) { client async throws in
            _ = try await client.get("/a?1")
            var look: LiveHold? = history.look()
            _ = try await client.get("/a?2")
            _ = try await client.get("/none")
            _ = try await client.get("/secret")
            #expect(look != nil)
            look = nil
            while history.isLooking { await Task.yield() }
            _ = try await client.get("/a?3")
        }
        let kept = history.ring.all
        #expect(kept.map(\.url).map { $0.split(separator: "/").last ?? "" } == ["a?2", "none"])
        #expect(kept.map(\.status) == [200, 404] && kept.map(\.id) == [1, 2] && kept[0].route == "/a")
    }

    @Test("Who looks again within the grace has them all")
    func grace() {
        let history = RequestHistory(RequestHistoryOptions(), grace: .seconds(3_600))
        var look: LiveHold? = history.look()
        #expect(history.isLooking && look != nil)
        look = nil
        #expect(history.isLooking)
    }
}
