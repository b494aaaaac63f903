// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Something that a request goes through on its way to the handler of its route.
enum RouteStep: Sendable {
    /// Looks at the request, may note something with it, and may answer in the handler's place.
    case before(@Sendable (Request) throws -> Response?)
    /// The same, waiting for something.
    case beforeWaiting(@Sendable (Request) async throws -> Response?)
    /// Stands around the handler.
    case around(@Sendable (Request, @Sendable (Request) async throws -> Response) async throws -> Response)
}

/// What responses of a route go through on their way out; one reference, since most routes have none.
final class ResponseSteps: Sendable {
    private let steps: [@Sendable (Request, inout Response) -> Void]

    init(_ steps: [@Sendable (Request, inout Response) -> Void]) {
        self.steps = steps
    }

    /// The same with one more, which sees the response before the others do.
    func adding(_ step: @escaping @Sendable (Request, inout Response) -> Void) -> ResponseSteps {
        ResponseSteps(steps + [step])
    }

    /// Has all of them see the response, those that were added last first: they stand nearest to the handler.
    func run(_ request: Request, _ response: inout Response) {
        for step in steps.reversed() { step(request, &response) }
    }
}
