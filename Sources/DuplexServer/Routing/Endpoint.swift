// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// A handler of requests with all that belongs to its route.
final class Endpoint: Sendable {
    /// The path as the app has written it.
    let pattern: String
    /// The route as people call it, such as `GET /users/:id`.
    let name: String
    let method: HTTPRequest.Method
    let handler: RouteHandler
    /// What it calls the parameters of its path: another method of the same path may name them otherwise.
    let parameters: [String]
    let settings: RouteSettings
    /// Of the settings: asked for with each response.
    private let finishing: ResponseSteps?

    init(
        pattern: String,
        method: HTTPRequest.Method,
        handler: RouteHandler,
        settings: RouteSettings
    ) throws(RouteError) {
        self.pattern = pattern
        self.method = method
        self.handler = handler.behind(settings.steps)
        self.settings = settings
        name = "\(method.rawValue) \(pattern)"
        parameters = try Router<Endpoint>.parameters(of: pattern, name)
        finishing = settings.finishing
    }

    /// One of the server's own, where no route answers: behind the steps that its requests go through.
    init(
        answering method: HTTPRequest.Method,
        _ settings: RouteSettings,
        _ answer: @escaping @Sendable (Request) throws -> Response
    ) {
        pattern = "*"
        self.method = method
        handler = RouteHandler.immediate(answer).behind(settings.steps)
        self.settings = settings
        name = "no route"
        parameters = []
        finishing = settings.finishing
    }

    /// One that no path leads to, for any method.
    init(named name: String, _ settings: RouteSettings, _ handler: RouteHandler) {
        pattern = name
        method = .get
        self.handler = handler.behind(settings.steps)
        self.settings = settings
        self.name = name
        parameters = []
        finishing = settings.finishing
    }

    /// What a response goes through before it is sent.
    @inline(__always)
    func finish(_ response: inout Response, _ request: Request) {
        // Only a response that has a field of its own can name a validator.
        if !response.otherFields.isEmpty { response = response.meetingConditions(of: request, settings.response) }
        if let finishing { finishing.run(request, &response) }
    }
}
