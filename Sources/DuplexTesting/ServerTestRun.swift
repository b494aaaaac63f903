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
