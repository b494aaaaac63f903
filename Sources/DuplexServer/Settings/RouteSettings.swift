// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

/// What holds for the requests and the WebSockets of a route: the server's settings, narrowed by its groups and by itself.
struct RouteSettings: Sendable {
    var messages = MessageLimits.internet
    var http = HTTPLimits.internet
    var keepalive = Keepalive.every(.seconds(20), timeout: .seconds(20))
    var closeTimeout = Duration.seconds(10)
    var subprotocols: [String] = []
    var requiresSubprotocol = false
    var origins = OriginPolicy.sameHost
    var compression = WebSocketCompression.disabled
    var compressionQuirks = CompressionQuirks.known
    /// What requests go through on their way to the handler, the first one first.
    var steps: [RouteStep] = []
    /// What responses go through, the last one first; `nil` for nothing, as is usual.
    var finishing: ResponseSteps?
    /// Makes the response of a problem; `nil` for the server's own.
    var problems: (@Sendable (Request, Problem) -> Response)?

    func with(_ options: [RouteOption]) -> RouteSettings {
        var copy = self
        for option in options { option.apply(&copy) }
        return copy
    }

    /// What answers a request that can't be answered otherwise.
    func response(of problem: Problem, _ request: Request) -> Response {
        guard let problems else { return problem.response(for: request) }
        var response = problems(request, problem)
        // It may be made of the server's own, which has them.
        let missing = problem.fields.filter { response.otherFields[$0.name] == nil }
        for field in missing { response.otherFields.append(field) }
        return response
    }
}
