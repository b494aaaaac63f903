// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets

/// A server while it is tested: cut off when the test takes too long, and ended behind it.
final class ServerTestRun: Sendable {
    let client: TestClient
    private let server: WebServer
    private let loop: TestLoop
    private let serving: ServingLoops
    private let patience: Duration
    /// Why the test was cut off.
    private let cutOff = Bulletin<TestingError?>(nil)
    private let watchdog = Bulletin<Task<Void, Never>?>(nil)

    /// Time for what a server gives its clients beyond `closeTimeout`, such as to take a last response.
    private static let grace = Duration.seconds(5)

    init(_ server: WebServer, on loop: TestLoop, limit: Duration, patience: Duration) throws {
        self.server = server
        self.loop = loop
        self.patience = patience
        serving = try ServingLoops(server, on: loop.group)
        client = TestClient(of: serving, on: loop)
        let task = Task { await watch(limit) }
        watchdog.change { $0 = task }
    }

    private func watch(_ limit: Duration) async {
        // A bound on the machine's time, which no event of the test's can set off. Cancelled, and so thrown, at its end.
        guard (try? await Task.sleep(for: limit.forSleeping)) != nil else { return }
        let routes = await serving.runningRoutes
        cutOff.change { $0 = .outOfTime(limit, after: loop.elapsed, routes) }
        client.cutOff()
    }

    /// Ends the server in order.
    ///
    /// - Parameter error: what the test threw, which counts more than handlers that don't end.
    /// - Throws: ``TestingError``.
    func end(after error: (any Error)?) async throws {
        watchdog.value?.cancel()
        // In a task of its own: a test that was cancelled has its server ended as any other.
        let left = await Task { await endServer() }.value
        if let reason = cutOff.value { throw reason }
        if let left, error == nil { throw left }
    }

    private func endServer() async -> TestingError? {
        let hasEnded = Bulletin(false)
        let leavesHandlers = server.leavesHandlersBehind
        Task {
            await serving.end(leavingHandlers: leavesHandlers)
            hasEnded.change { $0 = true }
        }
        serving.beginToEnd()
        await loop.advance(by: server.drain.spread)
        let needsTime = await serving.hasConnections
        if needsTime || leavesHandlers { await loop.advance(by: server.closeTimeout + Self.grace) }
        // What handlers wait for now is none of the loop's.
        if await Self.wait(for: hasEnded, patience) { return nil }
        let routes = await serving.runningRoutes
        // The server names them in its log as well.
        await loop.advance(by: server.closeTimeout + Self.grace)
        return .handlersLeft(routes)
    }

    private static func wait(for hasEnded: Bulletin<Bool>, _ limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { tasks in
            tasks.addTask { (try? await hasEnded.wait { $0 ? true : nil }) ?? false }
            tasks.addTask {
                // Only a handler that ignores its cancellation waits for this; nothing else shows one.
                try? await Task.sleep(for: limit)
                return false
            }
            defer { tasks.cancelAll() }
            return await tasks.next() ?? false
        }
    }
}

extension WebServer {
    /// Runs the server for the length of a test, without a port, in a time that the test moves.
    ///
    /// ```swift
    /// try await server.test { client in
    ///     #expect(try await client.get("/hello/world").text == "Hello world")
    ///     let socket = try await client.webSocket("/echo")
    ///     try await socket.send("hi")
    ///     #expect(try await socket.receive() == .text("hi"))
    ///     await client.clock.advance(by: .seconds(60))
    /// }
    /// ```
    ///
    /// The server does all that it does behind a port, on a loop whose time stands still until it is moved: its deadlines,
    /// pings and pauses come when the test says so. Connections lie in memory and in the clear: of the server's settings,
    /// the listeners, `eventLoops` and the port don't matter. What it logs goes to its `logger`.
    ///
    /// When `body` has returned or thrown, the server ends as on cancellation: WebSockets are closed as `drain` says,
    /// handlers are cancelled. What doesn't end by that is given `closeTimeout` by moving the clock, and is cut then.
    ///
    /// - Parameters:
    ///   - limit: how long `body` may take, of the machine's time, before all connections are reset, so that no test waits
    ///     for ever. Default: 60 s.
    ///   - body: the test.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw; `RouteError` when the routes contradict each other; ``TestingError`` when the test took
    ///   too long, or handlers go on 30 seconds after they were cancelled; `SocketError` when the system has no thread to
    ///   give.
    public func test<Value>(
        within limit: Duration = .seconds(60),
        _ body: (TestClient) async throws -> Value
    ) async throws -> Value {
        try TestingError.check([DurationSetting("limit", limit)])
        return try await test(within: limit, patience: .seconds(30), body)
    }

    /// The same with another time for handlers to end in.
    func test<Value>(
        within limit: Duration,
        patience: Duration,
        _ body: (TestClient) async throws -> Value
    ) async throws -> Value {
        try await TestLoop.run { loop in
            let run = try ServerTestRun(self, on: loop, limit: limit, patience: patience)
            let value: Value
            do {
                value = try await body(run.client)
            } catch {
                // Of two errors the test's own counts, unless it came of being cut off.
                try await run.end(after: error)
                throw error
            }
            try await run.end(after: nil)
            return value
        }
    }
}
