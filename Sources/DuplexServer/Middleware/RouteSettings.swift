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
    var pings = PingPolicy.every(.seconds(20), timeout: .seconds(20))
    var closeTimeout = Duration.seconds(10)
    var subprotocols: [String] = []
    var requiresSubprotocol = false
    var origins = OriginPolicy.sameHost
    var compression = WebSocketCompression.disabled
    var compressionQuirks = CompressionQuirks.known
    /// What requests go through on their way to the handler, the first one first.
    var middleware: [RouteMiddleware] = []
    /// Where of ``middleware`` the first stands that finds out who makes a request.
    var firstAuthentication: Int?
    /// What responses go through, the last one first; `nil` for nothing, as is usual.
    var finishing: ResponseMiddleware?
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

    /// Adds middleware that finds out who makes a request.
    mutating func addAuthentication(_ new: RouteMiddleware) {
        firstAuthentication = firstAuthentication ?? middleware.count
        middleware.append(new)
    }

    /// Adds middleware before all of those, or at the end while there is none.
    mutating func addBeforeAuthentication(_ new: RouteMiddleware) {
        middleware.insert(new, at: firstAuthentication ?? middleware.count)
        firstAuthentication = firstAuthentication.map { $0 + 1 }
    }

    /// Adds something that responses go through.
    mutating func addFinishing(_ body: @escaping @Sendable (Request, inout Response) -> Void) {
        finishing = (finishing ?? ResponseMiddleware()).adding(body)
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
        let missing = problem.headers.filter { response.otherFields[$0.name] == nil }
        for field in missing { response.otherFields.append(field) }
        return response
    }

    /// The same where no task can make a body, after the middleware that responses go through.
    func finalResponse(of problem: Problem, _ request: Request) -> Response {
        var response = response(of: problem, request)
        finishing?.run(request, &response)
        return response.body.isAtHand ? response : problem.response(for: request)
    }
}

/// Clients that offer permessage-deflate and can't do it, by what their requests say of them.
///
/// An offer of such a client is declined, and the WebSocket opens without compression. Where compression is required, the
/// client is refused.
struct CompressionQuirks: Sendable {
    private let isBroken: @Sendable (Request) -> Bool

    /// A rule of your own, in place of what is known.
    ///
    /// - Parameter isBroken: whether the client that sent the request can't be sent compressed messages; it runs on the
    ///   connection's loop and must not block it. `CompressionQuirks.known.decline(request)` asks for what is known.
    init(_ isBroken: @escaping @Sendable (Request) -> Bool) {
        self.isBroken = isBroken
    }

    /// Every offer is taken seriously.
    static let none = CompressionQuirks { _ in false }

    /// Safari 15.0 to 15.3, whose connections fail once compressed messages come.
    static let known = CompressionQuirks { request in
        request.headers[.userAgent].map(isBrokenSafari) ?? false
    }

    /// Whether the offer in that request is declined.
    ///
    /// - Parameter request: the request for a WebSocket.
    /// - Returns: whether it is.
    func decline(_ request: Request) -> Bool { isBroken(request) }

    /// Other browsers on Apple's systems have a `Safari/` too, but no `Version/`.
    private static func isBrokenSafari(_ userAgent: String) -> Bool {
        let products = userAgent.split(separator: " ")
        guard products.contains(where: { $0.hasPrefix("Safari/") }),
            let version = products.first(where: { $0.hasPrefix("Version/") })
        else { return false }
        let numbers = version.dropFirst("Version/".count).split(separator: ".").map { Int($0) }
        return numbers.first == 15 && (numbers.count < 2 || (numbers[1] ?? .max) <= 3)
    }
}
