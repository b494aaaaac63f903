// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// A handler of requests with all that belongs to its route.
final class Endpoint: Sendable {
    /// The path as the app has written it; `nil` where no route answers.
    let pattern: String?
    /// The route as people call it, such as `GET /users/:id`.
    let name: String
    let method: HTTPRequest.Method
    let handler: RouteHandler
    /// What it calls the parameters of its path: another method of the same path may name them otherwise.
    let parameters: [String]
    let settings: RouteSettings
    /// Observers.
    let observers: [any RequestObserver]
    /// How long the handler may take; nil for one that doesn't wait, and without a limit.
    let timeLimit: Duration?
    /// Whether closures of the app see each response before it is sent.
    let hasFinishing: Bool
    /// Whether more than the handler follows every request: an observer that always looks, or a limit of time.
    private let isAlwaysFollowed: Bool
    /// Those of the observers that look only at times.
    private let gates: [ObserverGate]

    /// Whether more than the handler follows a request that comes now.
    @inline(__always)
    var isFollowed: Bool { isAlwaysFollowed || !gates.isEmpty && isLookedAt }

    @inline(never)
    private var isLookedAt: Bool {
        for index in gates.indices where gates[index].isOpen { return true }
        return false
    }

    /// Answers in its place what the server answers by itself; nil for itself.
    private let refusal: Endpoint?

    /// What answers in its place what the server answers by itself, behind the same middleware; see ``OwnAnswer``.
    var refusing: Endpoint { refusal ?? self }

    /// A route of the app's.
    ///
    /// - Parameters:
    ///   - pattern: its path.
    ///   - method: its method.
    ///   - handler: what answers.
    ///   - settings: what holds for it.
    ///   - refusing: as of ``refusing``, where there is one by the same settings.
    /// - Throws: ``RouteError`` when the path is none.
    convenience init(
        pattern: String,
        method: HTTPRequest.Method,
        handler: RouteHandler,
        settings: RouteSettings,
        refusing: Endpoint? = nil
    ) throws(RouteError) {
        let name = "\(method.rawValue) \(pattern)"
        let parameters = try Router<Endpoint>.parameters(of: pattern, name)
        self.init(pattern, name, method, handler, parameters, settings, refusing ?? Endpoint(refusingBy: settings))
    }

    /// One of the server's own, where no route answers: behind the middleware that its requests go through.
    convenience init(refusingBy settings: RouteSettings) {
        self.init(nil, "no route", .get, OwnAnswer.handler, [], settings, nil)
    }

    /// One that no path leads to, for any method.
    convenience init(
        named name: String,
        _ settings: RouteSettings,
        _ handler: RouteHandler,
        refusing: Endpoint? = nil
    ) {
        self.init(name, name, .get, handler, [], settings, refusing ?? Endpoint(refusingBy: settings))
    }

    private init(
        _ pattern: String?,
        _ name: String,
        _ method: HTTPRequest.Method,
        _ handler: RouteHandler,
        _ parameters: [String],
        _ settings: RouteSettings,
        _ refusal: Endpoint?
    ) {
        self.pattern = pattern
        self.name = name
        self.method = method
        self.parameters = parameters
        self.settings = settings
        self.refusal = refusal
        let tracing = settings.tracer.map(RequestTracing.init)
        let wrapped = handler.behind(settings.middleware)
        let spanned = tracing == nil ? wrapped : wrapped.inSpan
        self.handler = settings.sendsEarlyHints ? spanned.linked : spanned
        observers = (tracing.map { [$0] } ?? []) + settings.observers.map { $0.following(pattern) }
        timeLimit = self.handler.mayWait ? settings.timeLimit : nil
        gates = observers.compactMap(\.gate)
        isAlwaysFollowed = gates.count < observers.count || timeLimit != nil
        hasFinishing = settings.finishing != nil
    }
}

/// What the server answers by itself to a request.
///
/// Noted with the request, so that what answers is put together once, with the middleware in front of it, and not for each
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
            case nil: return Response(.notFound)
            }
        }
    }
}
