// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

// What answers requests.

extension RouteBuilder {
    /// Answers GET, and HEAD without the body, with a synchronous handler, which runs on the connection's loop without
    /// a task.
    ///
    /// - Parameters:
    ///   - path: exact segments, parameters (`/hello/:name`), or `*` at the end for all that is left.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: must not block; what it throws is logged and answered with 500.
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> some ResponseConvertible
    ) {
        add(.get, path, options, .immediate { request in try handler(request).response(to: request) })
    }

    /// Answers GET, and HEAD without the body, with an `async` handler, which runs in a task on the connection's loop.
    ///
    /// - Parameters:
    ///   - path: exact segments, parameters (`/hello/:name`), or `*` at the end for all that is left.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: must not block between two waits. Cancelled when the client has disconnected: it has reset the
    ///     connection, or a write has failed. A client that has only ended its sending side still waits. What it throws is
    ///     logged and answered with 500.
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.get, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers POST; see `get`.
    public mutating func post(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.post, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers PUT; see `get`.
    public mutating func put(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.put, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers PATCH; see `get`.
    public mutating func patch(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.patch, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers DELETE; see `get`.
    public mutating func delete(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.delete, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers one method with a synchronous handler; see `get`.
    public mutating func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> some ResponseConvertible
    ) {
        add(method, path, options, .immediate { request in try handler(request).response(to: request) })
    }

    /// Answers one method with an `async` handler; see `get`.
    public mutating func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(method, path, options, .task { request in try await handler(request).response(to: request) })
    }

    // MARK: All else

    /// Answers requests that a closure picks, whatever their method, where no path is answered.
    ///
    /// ```swift
    /// server.match("scripts") { head in head.path.hasSuffix(".cgi") } handler: { request in … }
    /// ```
    ///
    /// Asked in the order that they were added in, those of groups with longer paths first; in a group only of requests
    /// below its path. At the top it is asked of all that no path answers: `OPTIONS *`, CONNECT, and what would open
    /// WebSockets, too.
    ///
    /// - Parameters:
    ///   - name: what logs and metrics call it.
    ///   - options: settings of this route that differ from the server's.
    ///   - picks: whether it answers a request; on the connection's loop, for each request that no path answers: it
    ///     must not block.
    ///   - handler: as in `get`.
    public mutating func match(
        _ name: String,
        _ options: RouteOption...,
        where picks: @escaping @Sendable (RequestHead) -> Bool,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        let handler = RouteHandler.task { request in try await handler(request).response(to: request) }
        add(RouteDefinition(path: "", options: options, action: .match(name: name, picks, handler)))
    }

    /// Answers requests for paths that nothing else answers, in place of 404.
    ///
    /// In a group it answers those below the group's path; the longest path that has one holds. A path that answers
    /// other methods is answered with 405 nevertheless. For a page in place of the text of a 404 see
    /// ``RouteOption/problems(_:)``.
    ///
    /// - Parameters:
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: as in `get`.
    public mutating func fallback(
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        let handler = RouteHandler.task { request in try await handler(request).response(to: request) }
        add(RouteDefinition(path: "", options: options, action: .fallback(handler)))
    }

    private mutating func add(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: [RouteOption],
        _ handler: RouteHandler
    ) {
        add(RouteDefinition(path: path, options: options, action: .request(method, .made(handler))))
    }
}
