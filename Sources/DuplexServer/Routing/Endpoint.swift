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
    /// Who looks on.
    let observers: [any RequestObserver]
    /// Whether more than the handler follows a request: somebody looks on, or its time is limited; that of a handler which doesn't
    /// wait isn't.
    let isFollowed: Bool
    /// Whether a response concerns more than the connection.
    let isAnswerFollowed: Bool

    /// A route of the app's.
    ///
    /// - Throws: ``RouteError`` when the path is none.
    convenience init(
        pattern: String,
        method: HTTPRequest.Method,
        handler: RouteHandler,
        settings: RouteSettings
    ) throws(RouteError) {
        let name = "\(method.rawValue) \(pattern)"
        let parameters = try Router<Endpoint>.parameters(of: pattern, name)
        self.init(pattern, name, method, handler, parameters, settings)
    }

    /// One of the server's own, where no route answers: behind the steps that its requests go through.
    convenience init(
        answering method: HTTPRequest.Method,
        at pattern: String?,
        _ settings: RouteSettings,
        _ answer: @escaping @Sendable (Request) throws -> Response
    ) {
        self.init(pattern, "no route", method, .immediate(answer), [], settings)
    }

    /// One that no path leads to, for any method.
    convenience init(named name: String, _ settings: RouteSettings, _ handler: RouteHandler) {
        self.init(name, name, .get, handler, [], settings)
    }

    private init(
        _ pattern: String?,
        _ name: String,
        _ method: HTTPRequest.Method,
        _ handler: RouteHandler,
        _ parameters: [String],
        _ settings: RouteSettings
    ) {
        self.pattern = pattern
        self.name = name
        self.method = method
        self.parameters = parameters
        self.settings = settings
        let tracing = settings.tracer.map(RequestTracing.init)
        let stepped = handler.behind(settings.steps)
        let spanned = tracing == nil ? stepped : stepped.inSpan
        self.handler = settings.sendsEarlyHints ? spanned.linked : spanned
        observers = (tracing.map { [$0] } ?? []) + settings.observers.map { $0.following(pattern) }
        isFollowed = !observers.isEmpty || self.handler.mayWait && settings.timeLimit != nil
        isAnswerFollowed = isFollowed || settings.finishing != nil
    }
}
