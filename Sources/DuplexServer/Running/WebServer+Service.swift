// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import ServiceLifecycle

/// A server in a service group: it shuts down gracefully when the group does, and on cancellation.
public struct WebServerService: Service {
    private let server: WebServer

    /// Wraps a server for a `ServiceGroup`.
    public init(_ server: WebServer) {
        self.server = server
    }

    /// Serves until the group shuts down or the task is cancelled.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await server.run()
        }
    }
}

extension WebServer {
    /// The server as a service, for a `ServiceGroup`.
    public var service: WebServerService {
        WebServerService(self)
    }
}
