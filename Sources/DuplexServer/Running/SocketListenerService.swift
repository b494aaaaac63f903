// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import ServiceLifecycle

/// A listener in a service group: it serves connections until the group shuts down.
///
/// ```swift
/// let listener = try SocketListener.bind(.tcp(port: 7000))
/// let service = SocketListenerService(listener) { socket in
///     for try await line in socket.lines { try await socket.write("\(line)\r\n") }
/// }
/// let group = ServiceGroup(services: [service], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
public struct SocketListenerService: Service {
    private let listener: SocketListener
    private let handler: @Sendable (isolated Socket) async throws -> Void

    /// Makes a service of a listener that nothing else serves.
    ///
    /// - Parameters:
    ///   - listener: the listener; the service closes it.
    ///   - handler: as of `SocketListener.serve(_:)`.
    public init(_ listener: SocketListener, handler: @escaping @Sendable (isolated Socket) async throws -> Void) {
        self.listener = listener
        self.handler = handler
    }

    /// Serves connections until the group shuts down or the task is cancelled.
    ///
    /// On a graceful shutdown it accepts no more connections, and ends when the last handler has returned: a handler that would
    /// go on asks for `Task.isShuttingDownGracefully`, or runs its loop in `cancelWhenGracefulShutdown`. Handlers that are left
    /// after the group's `maximumGracefulShutdownDuration` are cancelled. Cancelling the task cancels all handlers.
    ///
    /// - Throws: `CancellationError` if the task is cancelled; `SocketError` with `closed` if the listener was closed before, but
    ///   for a group that has shut down, or if the system has taken its socket away.
    public func run() async throws {
        try await withGracefulShutdownHandler {
            do {
                try await listener.serve(handler)
            } catch let error as SocketError where error.code == .closed && Task.isShuttingDownGracefully {
                // The group has shut down before this began.
            }
        } onGracefulShutdown: {
            Task { await listener.close() }
        }
    }
}
