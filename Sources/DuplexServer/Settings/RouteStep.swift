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
    /// Behind all of them.
    private let compression: ResponseCompression?

    init(_ steps: [@Sendable (Request, inout Response) -> Void] = [], _ compression: ResponseCompression? = nil) {
        self.steps = steps
        self.compression = compression
    }

    /// The same with one more, which sees the response before the others do.
    func adding(_ step: @escaping @Sendable (Request, inout Response) -> Void) -> ResponseSteps {
        ResponseSteps(steps + [step], compression)
    }

    /// The same with responses compressed by these rules.
    func compressing(_ compression: ResponseCompression) -> ResponseSteps {
        ResponseSteps(steps, compression)
    }

    /// Has all of them see the response, those that were added last first: they stand nearest to the handler.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - response: the response.
    ///   - original: what the handler has answered, where this may be in its place.
    func run(_ request: Request, _ response: inout Response, inPlaceOf original: Response? = nil) {
        for step in steps.reversed() { step(request, &response) }
        guard let compression else { return }
        if response.status == .notModified, let original {
            response.note(originally: original, for: request, by: compression)
        } else {
            response.compress(for: request, by: compression)
        }
    }
}
