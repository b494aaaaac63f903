// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging
import Tracing

/// What holds for the requests and the WebSockets of a route: the server's settings, narrowed by its groups and by itself.
struct RouteSettings: Sendable {
    var messages = MessageLimits.internet
    var http = HTTPLimits.internet
    var inflatesBodies = true
    var sendsEarlyHints = false
    var keepalive = Keepalive.every(.seconds(20), timeout: .seconds(20))
    var closeTimeout = Duration.seconds(10)
    var subprotocols: [String] = []
    var requiresSubprotocol = false
    var origins = OriginPolicy.sameHost
    var compression = WebSocketCompression.disabled
    var compressionQuirks = CompressionQuirks.known
    /// What requests go through on their way to the handler, the first one first.
    var steps: [RouteStep] = []
    /// Where of ``steps`` the first stands that finds out who makes a request.
    var firstAuthentication: Int?
    /// What responses go through, the last one first; `nil` for nothing, as is usual.
    var finishing: ResponseSteps?
    /// Makes the response of a problem; `nil` for the server's own.
    var problems: (@Sendable (Request, Problem) -> Response)?
    /// How long a handler may take to answer; `nil` for as long as it likes.
    var timeLimit: Duration?
    /// The durations that options have set, which are checked when the table of routes is made.
    var durations: [DurationSetting] = []
    /// Observers.
    var observers: [any RequestObserver] = []
    /// What OPTIONS for the server as a whole is answered with, because of this route.
    var announced = HTTPFields()
    /// The server's.
    var tracer: (any Tracer)?
    var logger = Logger(label: "duplex.server")

    /// Adds a step that finds out who makes a request.
    mutating func addAuthentication(_ step: RouteStep) {
        firstAuthentication = firstAuthentication ?? steps.count
        steps.append(step)
    }

    /// Adds a step before all of those, or at the end while there is none.
    mutating func addBeforeAuthentication(_ step: RouteStep) {
        steps.insert(step, at: firstAuthentication ?? steps.count)
        firstAuthentication = firstAuthentication.map { $0 + 1 }
    }

    /// Adds something that responses go through.
    mutating func addFinishing(_ step: @escaping @Sendable (Request, inout Response) -> Void) {
        finishing = (finishing ?? ResponseSteps()).adding(step)
    }

    func with(_ options: [RouteOption]) -> RouteSettings {
        var copy = self
        for option in options { option.apply(&copy) }
        return copy
    }

    /// Whether more than its handler follows a request.
    var followsRequests: Bool { !observers.isEmpty || timeLimit != nil }

    /// What answers a request that can't be answered otherwise.
    func response(of problem: Problem, _ request: Request) -> Response {
        guard let problems else { return problem.response(for: request) }
        var response = problems(request, problem)
        // It may be made of the server's own, which has them.
        let missing = problem.fields.filter { response.otherFields[$0.name] == nil }
        for field in missing { response.otherFields.append(field) }
        return response
    }

    /// The same where no task can make a body, behind the steps that responses go through.
    func finalResponse(of problem: Problem, _ request: Request) -> Response {
        var response = response(of: problem, request)
        finishing?.run(request, &response)
        return response.body.isAtHand ? response : problem.response(for: request)
    }
}
