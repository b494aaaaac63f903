// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

extension WebServer {
    /// Runs a server for the length of a test, without a port, in a time that the test moves.
    ///
    /// ```swift
    /// try await WebServer.testing(server) { client in
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
    /// `tls`, `proxyProtocol`, `group` and the port don't matter. What it logs goes to its `logger`.
    ///
    /// When `body` has returned or thrown, the server ends as on cancellation: WebSockets are closed as `drain` says,
    /// handlers are cancelled. What doesn't end by that is given `closeTimeout` by moving the clock, and is cut then.
    ///
    /// - Parameters:
    ///   - server: the server.
    ///   - limit: how long `body` may take, of the machine's time, before all connections are reset, so that no test waits
    ///     for ever. Default: 60 s.
    ///   - body: the test.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw; `RouteError` when the routes contradict each other; ``TestingError`` when the test took
    ///   too long, or handlers go on 30 seconds after they were cancelled; `SocketError` when the system has no thread to
    ///   give.
    public static func testing<Value>(
        _ server: WebServer,
        within limit: Duration = .seconds(60),
        _ body: (TestClient) async throws -> Value
    ) async throws -> Value {
        try TestingError.check([DurationSetting("limit", limit)])
        return try await testing(server, within: limit, patience: .seconds(30), body)
    }

    /// The same with another time for handlers to end in.
    static func testing<Value>(
        _ server: WebServer,
        within limit: Duration,
        patience: Duration,
        _ body: (TestClient) async throws -> Value
    ) async throws -> Value {
        try await TestLoop.run { loop in
            let run = try ServerTestRun(server, on: loop, limit: limit, patience: patience)
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
