// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How a route answers requests.
enum RouteHandler: Sendable {
    /// At once, on the loop, without a task.
    case immediate(@Sendable (Request) throws -> Response)
    /// In a task.
    case task(@Sendable (Request) async throws -> Response)
    /// At once where that is possible, which is so unless the first closure returns `nil`; otherwise in a task.
    case atOnceOrTask(
        @Sendable (Request) throws -> Response?,
        otherwise: @Sendable (Request) async throws -> Response
    )
    /// In a task, and what is sent before the response is noted with the request.
    case linked(@Sendable (Request) async throws -> Response)

    /// Whether it runs in a task.
    var mayWait: Bool {
        if case .immediate = self { false } else { true }
    }

    /// The same handler, with what is sent before the response, if it may wait.
    var linked: RouteHandler {
        switch self {
        case .immediate, .linked: self
        case .task(let handler), .atOnceOrTask(_, let handler): .linked(handler)
        }
    }

    /// The handler with middleware in front of it, the first outermost; it waits only if one of them does, or it did.
    func behind(_ middleware: [RouteMiddleware]) -> RouteHandler {
        middleware.reversed().reduce(self) { $0.behind($1) }
    }

    private func behind(_ middleware: RouteMiddleware) -> RouteHandler {
        switch (middleware, self) {
        case (.before(let body), .immediate(let handler)):
            .immediate { request in try body(request) ?? handler(request) }
        case (.before(let body), .atOnceOrTask(let handler, let other)):
            // The middleware isn't asked again where the handler has to wait.
            .atOnceOrTask({ request in try body(request) ?? handler(request) }, otherwise: other)
        case (.before(let body), .task(let handler)), (.before(let body), .linked(let handler)):
            .task { request in
                if let response = try body(request) { return response }
                return try await handler(request)
            }
        case (.beforeWaiting(let body), _):
            .task { request in
                if let response = try await body(request) { return response }
                return try await self(request)
            }
        case (.around(let body), _): .task { request in try await body(request) { try await self($0) } }
        case (.within(let context), _): within(context)
        }
    }

    /// The same handler with something at hand, also while the body of its response is written.
    private func within(_ context: any HandlerContext) -> RouteHandler {
        switch self {
        case .immediate(let handler):
            .immediate { request in try context.run { try handler(request) }.written(in: context) }
        case .atOnceOrTask(let handler, let other):
            .atOnceOrTask { request in
                try context.run { try handler(request) }?.written(in: context)
            } otherwise: { request in
                try await context.run { try await other(request) }.written(in: context)
            }
        case .task(let handler), .linked(let handler):
            .task { request in try await context.run { try await handler(request) }.written(in: context) }
        }
    }

    /// What it answers.
    func callAsFunction(_ request: Request) async throws -> Response {
        switch self {
        case .immediate(let handler): return try handler(request)
        case .atOnceOrTask(let handler, let other):
            if let response = try handler(request) { return response }
            return try await other(request)
        case .task(let handler), .linked(let handler): return try await handler(request)
        }
    }
}

/// Middleware that a request goes through on its way to the handler of its route.
enum RouteMiddleware: Sendable {
    /// Looks at the request, may note something with it, and may answer in the handler's place.
    case before(@Sendable (Request) throws -> Response?)
    /// The same, waiting for something.
    case beforeWaiting(@Sendable (Request) async throws -> Response?)
    /// Stands around the handler.
    case around(@Sendable (Request, @Sendable (Request) async throws -> Response) async throws -> Response)
    /// Stands around the handler without waiting, and has something at hand for it.
    case within(any HandlerContext)
}

/// Something that is at hand while a handler runs, such as a task-local value.
package protocol HandlerContext: Sendable {
    /// Runs the body with it at hand.
    func run<Value>(_ body: () throws -> Value) throws -> Value
    /// Runs the body with it at hand.
    func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value
}

extension Response {
    /// The same, whose body is written with something at hand where a task does that.
    fileprivate func written(in context: any HandlerContext) -> Response {
        guard case .writer(let length, let write) = body.content else { return self }
        var response = self
        response.body = .writer(length: length) { writer in try await context.run { try await write(writer) } }
        return response
    }
}

/// Middleware that responses of a route go through on their way out; one reference, since most routes have none.
final class ResponseMiddleware: Sendable {
    private let bodies: [@Sendable (Request, inout Response) -> Void]
    /// Behind all of them.
    private let compression: ResponseCompression?

    init(_ bodies: [@Sendable (Request, inout Response) -> Void] = [], _ compression: ResponseCompression? = nil) {
        self.bodies = bodies
        self.compression = compression
    }

    /// The same with one more, which sees the response before the others do.
    func adding(_ body: @escaping @Sendable (Request, inout Response) -> Void) -> ResponseMiddleware {
        ResponseMiddleware(bodies + [body], compression)
    }

    /// The same with responses compressed by these rules.
    func compressing(_ compression: ResponseCompression) -> ResponseMiddleware {
        ResponseMiddleware(bodies, compression)
    }

    /// Has all of them see the response, those that were added last first: they stand nearest to the handler.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - response: the response.
    ///   - original: what the handler has answered, where this may be in its place.
    func run(_ request: Request, _ response: inout Response, inPlaceOf original: Response? = nil) {
        for body in bodies.reversed() { body(request, &response) }
        guard let compression else { return }
        if response.status == .notModified, let original {
            response.note(originally: original, for: request, by: compression)
        } else {
            response.compress(for: request, by: compression)
        }
    }
}
