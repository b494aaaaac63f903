// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CoreMetrics
import DuplexServer
import DuplexTesting
import HTTPTypes
import MetricsTestKit
import Testing

@Suite("Where the numbers of requests go")
struct ServerMetricsTests {
    private static func dimensions(_ method: String, _ route: String, _ status: String) -> [(String, String)] {
        [
            ("service", "x"), ("http.request.method", method), ("http.route", route),
            ("http.response.status_code", status),
        ]
    }

    @Test("Requests are counted by route, method and status, and what no route answers under one name")
    func counting() async throws {
        let factory = TestMetrics()
        let log = OutcomeLog()
        var server = WebServer(port: 0)
        server.use(.metrics(ServerMetrics(factory, dimensions: [("service", "x")])), log.option)
        server.get("/users/:id") { _ in "hello" }
        server.post("/users/:id") { request in
            _ = try await request.body.collect()
            return HTTPResponse.Status.created
        }
        try await server.test { client async throws in
            for id in 0..<5 { _ = try await client.get("/users/\(id)") }
            _ = try await client.post("/users/1", body: Array("abc".utf8))
            for path in 0..<20 { _ = try await client.get("/nothing/\(path)") }
            for method in 0..<20 {
                let method = try #require(HTTPRequest.Method(rawValue: "X\(method)"))
                _ = try await client.request(method, "/users/1")
            }
            for _ in 0..<46 { _ = try await log.next() }
        }
        for (dimensions, count, received, sent) in [
            (Self.dimensions("GET", "/users/:id", "200"), 5, 0, 5),
            (Self.dimensions("POST", "/users/:id", "201"), 1, 3, 0),
            (Self.dimensions("GET", "_OTHER", "404"), 20, 0, 45),
            (Self.dimensions("_OTHER", "_OTHER", "501"), 20, 0, nil),
        ] as [([(String, String)], Int, Double, Double?)] {
            #expect(try factory.expectCounter("http.server.requests", dimensions).totalValue == count)
            #expect(try factory.expectTimer("http.server.request.duration", dimensions).values.count == count)
            let receivedSizes = try factory.expectRecorder("http.server.request.body.size", dimensions).values
            #expect(receivedSizes == Array(repeating: received, count: count))
            let sizes = try factory.expectRecorder("http.server.response.body.size", dimensions).values
            if let sent { #expect(sizes == Array(repeating: sent, count: count)) }
        }
        #expect(factory.counters.count == 4 && factory.timers.count == 4)
        #expect(factory.meters.allSatisfy { $0.lastValue == 0 } && factory.meters.count == 3)
    }

    @Test("Requests that are being answered are counted meanwhile")
    func active() async throws {
        let factory = TestMetrics()
        var server = WebServer(port: 0)
        server.use(.metrics(ServerMetrics(factory)))
        server.get("/") { _ in
            let meter = try factory.expectMeter("http.server.active_requests", [("http.request.method", "GET")])
            return "\(meter.lastValue ?? -1)"
        }
        try await server.test { client async throws in
            for _ in 0..<2 { #expect(try await client.get("/").text == "1.0") }
        }
    }
}
