// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Middleware as a type: code around handlers, with a state and a name of its own.
///
/// ```swift
/// struct Timing: Middleware {
///     let logger: Logger
///
///     func handle(
///         _ request: Request,
///         next: nonisolated(nonsending) (Request) async throws -> Response
///     ) async throws -> Response {
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
/// Without `nonisolated(nonsending)` it is another type of closure, unless the app's target has the upcoming feature
/// `NonisolatedNonsendingByDefault`.
///
/// It does what ``RouteOption/around(_:)`` does with a closure. For middleware that only looks before the handler or after it,
/// the closures of ``RouteOption/before(_:)-((Request)->Response?)`` and ``RouteOption/after(_:)`` cost less: no task.
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
    func handle(
        _ request: Request,
        next: @Sendable (Request) async throws -> Response
    ) async throws -> Response
}

extension RouteOption {
    /// Runs middleware around the handler; see ``Middleware``.
    ///
    /// - Parameter middleware: the middleware, one value for all requests.
    /// - Returns: the option, for a route, a group or a server.
    public static func middleware(_ middleware: some Middleware) -> RouteOption {
        .around { request, next in try await middleware.handle(request, next: next) }
    }
}
