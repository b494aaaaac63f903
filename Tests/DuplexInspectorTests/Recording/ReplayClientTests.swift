// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("Requests that are made again", .timeLimit(minutes: 1))
struct ReplayClientTests {
    @Test("The request is the recorded one, with the host, the fields and the body that it should have")
    func request() async throws {
        let seen = Mutex<[(HTTPFields, String, [UInt8])]>([])
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.post("/orders") { request in
            let body = try await request.body.collect()
            seen.withLock { $0.append((request.fields, request.head.host + " " + request.head.target, body)) }
            return Response.text("thanks", status: .accepted)
        }
        var exchange = try Sample.exchange()
        exchange.requestFields[.authorization] = "Bearer [masked]"
        exchange.requestFields[.expect] = "100-continue"
        let recorded = exchange
        try await server.withRunning { address in
            let target = try #require(ReplayTarget("http://\(address)"))
            let answer = try await ReplayClient(target: target, fields: [.userAgent: "replay"]).send(recorded)
            #expect(answer.status == 202)
            #expect(answer.size == 6)
            #expect(answer.seconds < 20)
            let (fields, line, body) = try #require(seen.withLock { $0.first })
            #expect(line == "\(address) /orders?x=1&y=")
            #expect(body == recorded.requestBody.bytes)
            #expect(fields[.authorization] == nil && fields[.expect] == nil)
            #expect(fields[.userAgent] == "replay")
            #expect(fields[.cookie] == "a=1; b=2=3")
            #expect(fields[.contentLength] == "7")
        }
    }

    @Test("A server that doesn't answer is given up in time")
    func timeout() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let target = try #require(ReplayTarget("http://\(listener.localAddress)"))
        let exchange = try Sample.exchange()
        await #expect(throws: SocketError.self) {
            try await ReplayClient(target: target, timeout: .milliseconds(200)).send(exchange)
        }
        await listener.close()
    }

    @Test("Nobody there is an error that says so")
    func nobody() async throws {
        let port = try ReservedPort()
        let target = try #require(ReplayTarget("http://\(port.address)"))
        let exchange = try Sample.exchange()
        await #expect(throws: SocketError.self) { try await ReplayClient(target: target).send(exchange) }
    }
}
