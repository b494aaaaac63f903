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

    /// The handler with the steps in front of it, the first one outermost; it waits only if one of them does, or it did.
    func behind(_ steps: [RouteStep]) -> RouteHandler {
        steps.reversed().reduce(self) { $0.behind($1) }
    }

    private func behind(_ step: RouteStep) -> RouteHandler {
        switch (step, self) {
        case (.before(let step), .immediate(let handler)):
            .immediate { request in try step(request) ?? handler(request) }
        case (.before(let step), .atOnceOrTask(let handler, let other)):
            // The step isn't asked again where the handler has to wait.
            .atOnceOrTask({ request in try step(request) ?? handler(request) }, otherwise: other)
        case (.before(let step), .task(let handler)), (.before(let step), .linked(let handler)):
            .task { request in
                if let response = try step(request) { return response }
                return try await handler(request)
            }
        case (.beforeWaiting(let step), _):
            .task { request in
                if let response = try await step(request) { return response }
                return try await self(request)
            }
        case (.around(let step), _): .task { request in try await step(request) { try await self($0) } }
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
