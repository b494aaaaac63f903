// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Tracing

/// How a WebSocket route handles its connections.
enum WebSocketRoute: Sendable {
    case task(WebSocketTask)
    /// A task that gets the request: kept apart, so that connections which don't ask for theirs don't hold it.
    case taskWithRequest(@Sendable (isolated WebSocket, Request) async throws -> Void)
    case handler(HandlerBox)

    /// The same with tasks that run in the context of their connection's span.
    func traced(_ context: InstrumentationContext) -> WebSocketRoute {
        switch self {
        case .task(let handler):
            .task { socket in
                try await InstrumentationContext.withValue(context) { try await handler(socket) }
            }
        case .taskWithRequest(let handler):
            .taskWithRequest { socket, request in
                try await InstrumentationContext.withValue(context) { try await handler(socket, request) }
            }
        case .handler: self
        }
    }

    /// A route whose connections are handled synchronously.
    init(_ handler: some WebSocketHandler) {
        self = .handler(HandlerBox.make(handler))
    }
}

/// A handler that runs for as long as its connection lasts.
typealias WebSocketTask = @Sendable (isolated WebSocket) async throws -> Void

/// Decides on a request, and says how the connection is handled then.
typealias AdmissionDecision = @Sendable (Request) async throws -> AdmissionVerdict

/// The app's decision.
enum AdmissionVerdict: Sendable {
    case accepted(WebSocketRoute, AcceptedHandshake)
    case refused(Response)
}

/// A WebSocket route with all that belongs to it.
final class WebSocketEndpoint: Sendable {
    /// The path as the app has written it.
    let pattern: String
    let route: WebSocketRoute
    /// Decides on each request, where the app wants to.
    let admit: AdmissionDecision?
    let parameters: [String]
    let settings: RouteSettings
    /// What the sessions of all its connections are made with.
    let sessionSettings: SessionSettings

    init(
        pattern: String,
        route: WebSocketRoute,
        admit: AdmissionDecision?,
        parameters: [String],
        settings: RouteSettings
    ) {
        self.pattern = pattern
        self.route = route
        let isPlain = settings.middleware.isEmpty && settings.finishing == nil
        self.admit = isPlain ? admit : AdmissionSteps(settings, route, admit).decision
        self.parameters = parameters
        self.settings = settings
        sessionSettings = SessionSettings(
            limits: settings.messages,
            pings: settings.pings,
            closeTimeout: settings.closeTimeout
        )
    }

    /// The route as people call it, such as `WebSocket /chat`.
    var name: String { Self.name(of: pattern) }

    static func name(of pattern: String) -> String { "WebSocket \(pattern)" }

    /// What a client is held to that has sent this request.
    func handshakeOptions(for request: Request) -> ServerHandshakeOptions {
        var options = ServerHandshakeOptions()
        options.subprotocols = settings.subprotocols
        options.requiresSubprotocol = settings.requiresSubprotocol
        options.origin = settings.origins
        if let negotiation = settings.compression.negotiation, !settings.compressionQuirks.decline(request) {
            options.deflate = negotiation
        }
        return options
    }
}

/// A connection whose handshake has been answered with 101, on its way to become a WebSocket.
struct Upgrade {
    let channel: Channel
    let request: Request
    let endpoint: WebSocketEndpoint
    let route: WebSocketRoute
    let acceptance: ServerHandshake.Acceptance
    /// What came behind the request.
    let leftover: [UInt8]
    let accepted: Instant
    let asked: Instant?
    let span: HandshakeSpan?
}

typealias Acceptance = ServerHandshake.Acceptance
