// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What the server answers by itself to a request.
///
/// Noted with the request, so that what answers is put together once, with the steps in front of it, and not for each
/// request that comes to nothing.
struct OwnAnswer: Sendable {
    private enum Content: Sendable {
        case response(Response)
        case problem(Problem)
    }

    private enum Key: RequestKey {
        typealias Value = OwnAnswer
    }

    private let content: Content
    /// The route that the request came to; nil where it came to none.
    private let pattern: String?

    static func response(_ response: Response) -> OwnAnswer { OwnAnswer(content: .response(response), pattern: nil) }

    static func problem(_ problem: Problem, at pattern: String? = nil) -> OwnAnswer {
        OwnAnswer(content: .problem(problem), pattern: pattern)
    }

    /// Has ``handler`` answer the request by this.
    func note(with request: Request) {
        request[Key.self] = self
    }

    /// The route that a request came to which the server answers by itself.
    static func pattern(of request: Request) -> String? { request[Key.self]?.pattern }

    /// Answers a request by what was noted with it.
    static var handler: RouteHandler {
        .immediate { request in
            switch request[Key.self]?.content {
            case .response(let response): return response
            case .problem(let problem): throw problem
            case nil: return Response(status: .notFound)
            }
        }
    }
}
