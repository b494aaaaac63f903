// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer

@Suite("Who fails to show who they are too often")
struct FailureThrottleTests {
    private static let right: HTTPFields = [.authorization: "Bearer right"]
    private static let wrong: HTTPFields = [.authorization: "Bearer wrong"]

    /// Counts how many tokens were checked.
    private final class Checks: Sendable {
        let count = Mutex(0)

        var option: RouteOption {
            .bearerAuth(realm: "x") { token in
                self.count.withLock { $0 += 1 }
                return token == "right" ? "mia" : nil
            }
        }
    }

    private func testing(_ options: [RouteOption], _ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.group("/in") { inside in
            for option in options { inside.use(option) }
            inside.get("/") { request in request.user ?? "nobody" }
            inside.webSocket("/socket") { socket in try await socket.send("in") }
        }
        server.get("/out") { _ in "out" }
        try await server.test(body)
    }

    @Test(
        "After so many failures nothing is checked any more until the window ends, wherever the option is written",
        arguments: [false, true]
    )
    func throttling(isBehind: Bool) async throws {
        let checks = Checks()
        let throttle = RouteOption.throttleFailures(3, within: .seconds(60))
        try await testing(isBehind ? [checks.option, throttle] : [throttle, checks.option]) { client async throws in
            for _ in 0..<3 { #expect(try await client.get("/in", headers: Self.wrong).status == .unauthorized) }
            await client.clock.advance(by: .milliseconds(20_500))
            for headers in [Self.wrong, Self.right] {
                let answer = try await client.get("/in", headers: headers)
                #expect(answer.status == .tooManyRequests && answer.headers[.retryAfter] == "40")
            }
            var options = WebSocketOptions()
            options.headers = Self.right
            let error = await #expect(throws: WebSocketError.self) {
                try await client.webSocket("/in/socket", options: options)
            }
            #expect(error?.handshake?.status == .tooManyRequests)
            #expect(checks.count.withLock { $0 } == 3)
            // Who sends no credentials hasn't guessed, and other routes aren't guarded.
            #expect(try await client.get("/in").status == .unauthorized)
            #expect(try await client.get("/out", headers: Self.wrong).text == "out")
            await client.clock.advance(by: .milliseconds(39_500))
            #expect(try await client.get("/in", headers: Self.right).text == "mia")
        }
    }

    @Test("WebSockets that are refused count, too")
    func webSockets() async throws {
        try await testing([.throttleFailures(2), Checks().option]) { client async throws in
            var options = WebSocketOptions()
            options.headers = Self.wrong
            for status: HTTPResponse.Status in [.unauthorized, .unauthorized, .tooManyRequests] {
                let error = await #expect(throws: WebSocketError.self) {
                    try await client.webSocket("/in/socket", options: options)
                }
                #expect(error?.handshake?.status == status)
            }
        }
    }

    @Test("Right credentials in between clear nothing")
    func success() async throws {
        try await testing([.throttleFailures(2), Checks().option]) { client async throws in
            for headers in [Self.wrong, Self.right, Self.wrong] { _ = try await client.get("/in", headers: headers) }
            #expect(try await client.get("/in", headers: Self.right).status == .tooManyRequests)
        }
    }

    @Test(
        "An IPv4 address counts by itself, an IPv6 address with its network",
        arguments: [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
            ("2001:db8::1", "2001:db8::ffff:1", true), ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
            ("127.0.0.1", "127.0.0.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
        ]
    )
    func networks(one: String, other: String, areSame: Bool) async throws {
        try await testing([.throttleFailures(1), Checks().option]) { client async throws in
            client.address = try SocketAddress(one, port: 1)
            _ = try await client.get("/in", headers: Self.wrong)
            client.address = try SocketAddress(other, port: 2)
            let answer = try await client.get("/in", headers: Self.right)
            #expect(answer.status == (areSame ? .tooManyRequests : .ok))
        }
    }

    @Test("Basic and Digest count as well, and a nonce that has grown old isn't a failure")
    func digest() async throws {
        let digest = RouteOption.digestAuth(
            realm: "x",
            accounts: ["mia": "pä:ss"],
            options: DigestOptions(offersBasic: true)
        )
        try await testing([.throttleFailures(2), digest]) { client async throws in
            let first = try await client.get("/in")
            await client.clock.advance(by: .seconds(300))
            for count in 1...5 {
                let headers = DigestClient().headers(first, "/in", count: UInt32(count))
                #expect(try await client.get("/in", headers: headers).isStale)
            }
            let wrong = DigestClient(password: "x").headers(first, "/in")
            #expect(try await client.get("/in", headers: wrong).status == .unauthorized)
            let basic: HTTPFields = [.authorization: PasswordCredentials(user: "mia", password: "x").basicValue ?? ""]
            #expect(try await client.get("/in", headers: basic).status == .unauthorized)
            let right = DigestClient().headers(try await client.get("/in"), "/in")
            #expect(try await client.get("/in", headers: right).status == .tooManyRequests)
        }
    }

    /// How many are being judged at the same time.
    private final class Judged: Sendable {
        private let counts = Mutex((open: 0, most: 0))
        var most: Int { counts.withLock { $0.most } }

        func judge(_ body: () async -> String?) async -> String? {
            counts.withLock { $0 = ($0.open + 1, max($0.most, $0.open + 1)) }
            defer { counts.withLock { $0.open -= 1 } }
            return await body()
        }
    }

    @Test(
        "Many at once are no way around a check that takes its time, and all who are right get in, one after the other"
    )
    func atOnce() async throws {
        let (asked, ask) = AsyncStream<CheckedContinuation<String?, Never>>.makeStream()
        let judged = Judged()
        let slow = RouteOption.bearerAuth(realm: "x") { _ in
            await judged.judge { await withCheckedContinuation { ask.yield($0) } }
        }
        try await testing([.throttleFailures(2), slow]) { client async throws in
            let answers = Task { for await continuation in asked { continuation.resume(returning: "mia") } }
            defer { answers.cancel() }
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<60 { group.addTask { try await client.get("/in", headers: Self.right).text } }
                for try await text in group { #expect(text == "mia") }
            }
            #expect(judged.most <= 2)
        }
    }

    @Test("Who waits is refused once those before have failed, and after ten seconds if they are judged for longer")
    func waits() async throws {
        let (asked, ask) = AsyncStream<CheckedContinuation<String?, Never>>.makeStream()
        let (arrivals, arrive) = AsyncStream<Void>.makeStream()
        let arriving = RouteOption.before { _ in
            arrive.yield()
            return nil
        }
        let slow = RouteOption.bearerAuth(realm: "x") { _ in
            await withCheckedContinuation { ask.yield($0) }
        }
        try await testing([arriving, .throttleFailures(1), slow]) { client async throws in
            var iterator = asked.makeAsyncIterator()
            var arrived = arrivals.makeAsyncIterator()
            async let first = client.get("/in", headers: Self.wrong)
            await arrived.next()
            let judging = await iterator.next()
            async let late = client.get("/in", headers: Self.right)
            // Before it waits, time may not pass: the first request would be given up.
            await arrived.next()
            await client.clock.advance(by: .seconds(10))
            let answer = try await late
            #expect(answer.status == .tooManyRequests && answer.headers[.retryAfter] == "1")
            async let next = client.get("/in", headers: Self.right)
            await arrived.next()
            judging?.resume(returning: nil)
            #expect(try await first.status == .unauthorized)
            #expect(try await next.status == .tooManyRequests)
        }
    }

    @Test("Who goes away while the credentials are checked holds no place, nor does who goes away before")
    func gone() async throws {
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let slow = RouteOption.bearerAuth(realm: "x") { token in
            if token == "right" { return "mia" }
            ask.yield()
            try await Task.sleep(for: .seconds(1_000))
            return nil
        }
        try await testing([.throttleFailures(1), slow]) { client async throws in
            var iterator = asked.makeAsyncIterator()
            for path in ["/in", "/in/socket"] {
                let upgrade =
                    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                let request =
                    "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n"
                    + (path == "/in" ? "" : upgrade) + "\r\n"
                let connections = [await client.connect(), await client.connect()]
                try await connections[0].send(raw: request)
                _ = await iterator.next()
                try await connections[1].send(raw: request)
                async let right = client.get("/in", headers: Self.right)
                await connections[1].reset()
                await connections[0].reset()
                #expect(try await right.text == "mia")
            }
        }
    }

    @Test("Middleware of the app's own that says who it is holds up nobody, however long the handler takes")
    func ownStep() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let middleware = RouteOption.before { request in
            guard request.headers[.authorization] == Self.right[.authorization] else {
                throw Problem(.unauthorized, "Who?")
            }
            request.user = "mia"
            return nil
        }
        let slow = RouteOption.around { request, next in
            if request.path == "/in" { for await _ in gate {} }
            return try await next(request)
        }
        try await testing([.throttleFailures(2), middleware, slow]) { client async throws in
            var connections: [TestConnection] = []
            for _ in 0..<4 {
                let connection = await client.connect()
                try await connection.begin(.get, "/in", headers: Self.right)
                try await connection.finish()
                connections.append(connection)
            }
            open.finish()
            for connection in connections { #expect(try await connection.response().text == "mia") }
        }
    }

    @Test("Two throttles count each by itself")
    func nested() async throws {
        try await testing([.throttleFailures(3), .throttleFailures(2), Checks().option]) { client async throws in
            for status: HTTPResponse.Status in [.unauthorized, .unauthorized, .tooManyRequests] {
                #expect(try await client.get("/in", headers: Self.wrong).status == status)
            }
        }
    }

    @Test("Nothing is kept of addresses that don't fail")
    func nothingKept() async throws {
        let throttle = FailureThrottle(limit: 2, window: .seconds(60))
        let host = HTTPField(name: try #require(HTTPField.Name("Host")), value: "a")
        let head = try RequestHead(method: .get, target: "/", headers: HTTPFields([host]))
        let request = Request(head: head, connection: Request.Connection(remoteAddress: nil, tls: nil))
        do {
            let attempt = try await throttle.enter(request)
            #expect(throttle.networkCount == 1)
            attempt.end()
            attempt.end(hasFailed: true)
        }
        _ = try await throttle.enter(request)
        #expect(throttle.networkCount == 0)
        try await throttle.enter(request).end(hasFailed: true)
        #expect(throttle.networkCount == 1)
    }
}

@Suite("How often each network has failed")
struct FailureTableTests {
    private func instant(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    private func fail(_ table: inout FailureTable, _ network: [UInt8], _ second: Int) -> Duration? {
        if case .refused(let wait) = table.enter(network, at: instant(second)) { return wait }
        table.leave(network, hasFailed: true, at: instant(second))
        return nil
    }

    @Test("After as many failures as are allowed a network waits for the end of the window, and others don't")
    func window() {
        var table = FailureTable(limit: 3, window: .seconds(60))
        let failures = [10, 20, 30, 31, 69].map { fail(&table, [1], $0) }
        #expect(failures == [nil, nil, nil, .seconds(39), .seconds(1)])
        let other = fail(&table, [2], 31)
        #expect(other == nil)
        let later = [70, 71, 72, 73].map { fail(&table, [1], $0) }
        #expect(later == [nil, nil, nil, .seconds(57)])
    }

    @Test("A success clears nothing, and leaves nothing where there was nothing")
    func success() {
        var table = FailureTable(limit: 2, window: .seconds(60))
        _ = table.enter([1], at: instant(1))
        table.leave([1], hasFailed: false, at: instant(1))
        #expect(table.networkCount == 0)
        _ = fail(&table, [1], 1)
        for second in 2...9 {
            let wait = table.enter([1], at: instant(second))
            #expect(wait == .admitted)
            table.leave([1], hasFailed: false, at: instant(second))
        }
        _ = fail(&table, [1], 10)
        let wait = table.enter([1], at: instant(11))
        #expect(wait == .refused(.seconds(50)))
    }

    @Test("Attempts that are being judged count until they are")
    func open() {
        var table = FailureTable(limit: 2, window: .seconds(60))
        let waits = (0..<3).map { _ in table.enter([1], at: instant(1)) }
        #expect(waits == [.admitted, .admitted, .full])
        table.leave([1], hasFailed: false, at: instant(1))
        let next = table.enter([1], at: instant(1))
        #expect(next == .admitted)
    }

    @Test("No more networks are kept than the bound allows, and those that failed last stay")
    func bounded() {
        var table = FailureTable(limit: 1, window: .seconds(1_000_000))
        for number in 0..<(FailureTable.bound + 100) {
            _ = fail(&table, [UInt8(number >> 8), UInt8(number & 0xFF)], number)
            #expect(table.networkCount <= FailureTable.bound)
        }
        let last = FailureTable.bound + 99
        let wait = table.enter([UInt8(last >> 8), UInt8(last & 0xFF)], at: instant(last))
        #expect(wait != .admitted && wait != .full)
        let first = table.enter([0, 0], at: instant(last))
        #expect(first == .admitted)
        // One that was forgotten while it was judged.
        table.leave([9, 9, 9], hasFailed: true, at: instant(last))
        table.leave([9, 9, 9], hasFailed: false, at: instant(last))
        let judged = table.enter([9, 9, 9], at: instant(last))
        #expect(judged != .admitted)
    }
}
