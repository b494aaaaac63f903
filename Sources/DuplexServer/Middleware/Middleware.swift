// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Middleware as a type: code around handlers, with a state and a name of its own.
///
/// ```swift
/// struct Timing: Middleware {
///     let logger: Logger
///
///     func handle(_ request: Request, next: NextHandler) async throws -> Response {
///         let start = ContinuousClock.now
///         defer { logger.info("\(request.path) took \(start.duration(to: .now))") }
///         return try await next(request)
///     }
/// }
///
/// server.use(Timing(logger: logger))
/// server.get("/slow", .middleware(Timing(logger: logger))) { request in … }
/// ```
///
/// It does what ``RouteOption/around(_:)`` does with a closure. For middleware that only looks before the handler or after it,
/// the closures of ``RouteOption/before(_:)-i9ka`` and ``RouteOption/after(_:)`` cost less: no task.
public protocol Middleware: Sendable {
    /// Handles a request: answers it, or passes it on and returns what comes back.
    ///
    /// It runs in a task on the connection's loop, which it must not block, and is cancelled when the client has
    /// disconnected. For a WebSocket it stands around the decision whether to open it: `next` returns a response with the
    /// status 101 then.
    ///
    /// - Parameters:
    ///   - request: the request, with what middleware before it has noted (``RequestKey``).
    ///   - next: runs the rest: the middleware after this, and the handler. Call it once, or not at all.
    /// - Returns: the response.
    /// - Throws: whatever it likes; an error is answered as one of the handler's. Errors of `next` may be thrown on.
    func handle(_ request: Request, next: NextHandler) async throws -> Response
}

/// The rest of what a request passes: the middleware after this, and the handler; see ``Middleware``.
///
/// A value and no closure, since the type of an asynchronous closure depends on the settings of the target that names it
/// (`NonisolatedNonsendingByDefault`), and middleware of some targets wouldn't conform.
public struct NextHandler: Sendable {
    private let body: @Sendable (Request) async throws -> Response

    init(_ body: @escaping @Sendable (Request) async throws -> Response) {
        self.body = body
    }

    /// Passes the request on.
    ///
    /// - Parameter request: the request, as the rest is to see it.
    /// - Returns: the response.
    /// - Throws: what the rest throws.
    public func callAsFunction(_ request: Request) async throws -> Response {
        try await body(request)
    }
}

extension RouteOption {
    /// Runs middleware around the handler; see ``Middleware``.
    ///
    /// - Parameter middleware: the middleware, one value for all requests.
    /// - Returns: the option, for a route, a group or a server.
    public static func middleware(_ middleware: some Middleware) -> RouteOption {
        .around { request, next in
            try await withoutActuallyEscaping(next) { try await middleware.handle(request, next: NextHandler($0)) }
        }
    }
}
