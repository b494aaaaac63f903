// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexCommand

@Suite("WebSockets that are forwarded", .timeLimit(minutes: 1))
struct InspectProxyTests {
    /// What the server has seen.
    private final class Seen: Sendable {
        private let state = Mutex<(headers: [HTTPFields], targets: [String], ends: [String])>(([], [], []))

        func add(_ request: Request) {
            state.withLock {
                $0.headers.append(request.headers)
                $0.targets.append(request.head.target)
            }
        }

        func add(_ report: CloseReport) {
            state.withLock { $0.ends.append("\(report.code.rawValue) \(report.received?.reason ?? "")") }
        }

        var headers: HTTPFields { state.withLock { $0.headers.last ?? [:] } }
        var targets: [String] { state.withLock { $0.targets } }
        var ends: [String] { state.withLock { $0.ends } }
    }

    /// Runs `body` with the URL of a proxy in front of an echo, without a slash at its end.
    private static func withProxy(
        _ options: WebSocketOptions = WebSocketOptions(),
        path: String = "/start?a=1",
        _ body: @escaping @Sendable (String, Seen) async throws -> Void
    ) async throws {
        let seen = Seen()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.webSockets.subprotocols = ["v2", "v1"]
        server.webSockets.origins = .any
        server.limits.messages = .local
        server.webSocket("/refused", admit: Self.refuse, handler: { _, _ in })
        let admit: @Sendable (Request) async throws -> Admission<Void> = { request in
            seen.add(request)
            return .accepted(headers: [.setCookie: "id=7"])
        }
        server.webSocket("/*", admit: admit, handler: { socket, _ in try await Self.echo(socket, seen) })
        try await server.withRunning { address in
            var front = WebServer(host: "127.0.0.1", port: 0)
            front.limits.messages = .local
            try InspectProxy(to: "ws://\(address)\(path)", options: options).add(to: &front)
            try await front.withRunning { try await body("ws://\($0)", seen) }
        }
    }

    private static let refuse: @Sendable (Request) async throws -> Admission<Void> = { request in
        .refused(.unauthorized, "Not you, \(request.headers[.authorization] ?? "stranger").")
    }

    private static func echo(_ socket: isolated WebSocket, _ seen: Seen) async throws {
        defer { seen.add(socket.closeReport) }
        for try await message in socket.messages {
            if message == .text("close") {
                await socket.close(code: CloseCode(rawValue: 4_321), reason: "as asked")
            } else if message == .text("close without a code") {
                await socket.close(code: .noStatusReceived)
            } else if message == .text("reset") {
                socket.reset()
            } else {
                try await socket.send(message)
            }
        }
    }

    private static func connect(
        _ url: String,
        _ headers: HTTPFields = [:],
        _ subprotocols: [String] = []
    ) async throws -> WebSocket {
        var options = WebSocketOptions()
        options.headers = headers
        options.subprotocols = subprotocols
        options.limits = .local
        return try await WebSocket.connect(to: url, options: options)
    }

    @Test(
        "Messages come back as they went, of every size",
        arguments: [0, 1, 125, 126, 65_535, 65_536, 65_537, 1 << 20, 3_000_001]
    )
    func messages(size: Int) async throws {
        try await Self.withProxy { url, _ in
            let socket = try await Self.connect(url + "/echo")
            let text = String(repeating: "ü", count: size / 2) + String(repeating: "x", count: size % 2)
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 3) }
            for message in [Message.text(text), .binary(bytes)] {
                async let answer = socket.receive()
                try await socket.send(message)
                #expect(try await answer == message)
            }
            #expect(await socket.close().isClean)
        }
    }

    @Test("Many messages keep their order, with both sides sending at once")
    func order() async throws {
        try await Self.withProxy { url, _ in
            let socket = try await Self.connect(url + "/echo")
            async let sent: Void = {
                for number in 0..<2_000 { try await socket.send("\(number)") }
            }()
            for number in 0..<2_000 { #expect(try await socket.receive() == .text("\(number)")) }
            try await sent
            await socket.close()
        }
    }

    @Test(
        "The server gets the client's path, query, fields and subprotocols; the client gets its cookies and its choice"
    )
    func handshake() async throws {
        try await Self.withProxy { url, seen in
            let headers: HTTPFields = [
                .authorization: "Bearer abc", .cookie: "a=1; b=2", .origin: "https://page.example", .userAgent: "test",
            ]
            var options = WebSocketOptions()
            options.headers = headers
            options.headers[.origin] = nil
            options.subprotocols = ["v1", "other"]
            let socket = try await WebSocket.connect(to: url + "/some/where?x=%20y", options: options)
            #expect(seen.targets == ["/some/where?x=%20y"])
            for name in [HTTPField.Name.authorization, .cookie, .userAgent] {
                #expect(seen.headers[name] == headers[name])
            }
            #expect(socket.subprotocol == "v1")
            #expect(await socket.responseHeaders?[.setCookie] == "id=7")
            await socket.close()
        }
    }

    @Test("The root leads to the URL's own path, fields of the command take the place of the client's")
    func options() async throws {
        var options = WebSocketOptions()
        options.headers = [.authorization: "Bearer ours"]
        options.origin = "https://ours.example"
        options.subprotocols = ["v2"]
        try await Self.withProxy(options) { url, seen in
            let socket = try await Self.connect(url + "/", [.authorization: "Bearer theirs"], ["v2", "v1"])
            #expect(seen.targets == ["/start?a=1"])
            #expect(seen.headers[values: .authorization] == ["Bearer ours"])
            #expect(seen.headers[values: .origin] == ["https://ours.example"])
            #expect(socket.subprotocol == "v2")
            await socket.close()
        }
    }

    @Test("A client is refused as the server refuses, and with 502 where there is none")
    func refusals() async throws {
        try await Self.withProxy { url, _ in
            let error = await #expect(throws: WebSocketError.self) {
                try await Self.connect(url + "/refused", [.authorization: "A"])
            }
            #expect(error?.handshake?.status?.code == 401)
            let body = String(decoding: error?.handshake?.body ?? [], as: UTF8.self)
            #expect(body.contains("Not you, A."))
        }
        let port = try ReservedPort()
        var front = WebServer(host: "127.0.0.1", port: 0)
        try InspectProxy(to: "ws://\(port.address)/", options: WebSocketOptions()).add(to: &front)
        try await front.withRunning { address in
            let error = await #expect(throws: WebSocketError.self) { try await Self.connect("ws://\(address)/") }
            #expect(error?.handshake?.status?.code == 502)
        }
    }

    @Test("Codes and reasons go through, both ways")
    func closing() async throws {
        try await Self.withProxy { url, seen in
            let first = try await Self.connect(url + "/")
            try await first.send("close")
            await #expect(throws: WebSocketError.self) { try await first.receive() }
            #expect(
                await first.closeReport.received == CloseFrame(code: CloseCode(rawValue: 4_321), reason: "as asked")
            )
            let second = try await Self.connect(url + "/")
            let report = await second.close(code: CloseCode(rawValue: 4_999), reason: "enough")
            #expect(report.received?.code?.rawValue == 4_999)
            #expect(await comesTrue { seen.ends.contains("4999 enough") })
        }
    }

    @Test("A close without a code goes through as one, both ways")
    func closingWithoutCode() async throws {
        try await Self.withProxy { url, seen in
            let first = try await Self.connect(url + "/")
            try await first.send("close without a code")
            for try await _ in first.messages { Issue.record("Nothing was sent.") }
            #expect(await first.closeReport.received == CloseFrame(code: nil))
            let second = try await Self.connect(url + "/")
            #expect(await second.close(code: .noStatusReceived).received == CloseFrame(code: nil))
            #expect(await comesTrue { seen.ends.count(where: { $0.hasPrefix("1005") }) == 2 })
        }
    }

    @Test("A server that is lost ends the client with 1014, and a client that is lost the server with 1001")
    func losses() async throws {
        try await Self.withProxy { url, seen in
            let first = try await Self.connect(url + "/")
            try await first.send("reset")
            await #expect(throws: WebSocketError.self) { try await first.receive() }
            #expect(await first.closeReport.received?.code == .badGateway)
            let second = try await Self.connect(url + "/")
            await second.reset()
            #expect(await comesTrue { seen.ends.contains { $0.hasPrefix("1001") } })
        }
    }

    @Test("What is no URL of a WebSocket is refused", arguments: ["", "a", "ftp://a/", "ws://"])
    func urls(url: String) {
        #expect(throws: Failure.self) { try InspectProxy(to: url, options: WebSocketOptions()) }
    }
}
