// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The decision on a WebSocket behind the steps of its route: they see the request as they see any other, and in place of a
/// handler's response that of the decision, 101 or a refusal.
struct AdmissionSteps: Sendable {
    /// The decision and the steps in front of it, put together once.
    private let handler: RouteHandler
    private let finishing: ResponseSteps?

    /// What was decided, noted with the request for when the steps have had their way.
    private enum Verdict: RequestKey {
        typealias Value = AdmissionVerdict
    }

    init(_ settings: RouteSettings, _ route: WebSocketRoute, _ admit: AdmissionDecision?) {
        handler = RouteHandler.task { request in try await Self.decide(request, route, admit) }.behind(settings.steps)
        finishing = settings.finishing
    }

    var decision: AdmissionDecision {
        { request in
            var response = try await handler(request)
            let verdict = request[Verdict.self]
            request[Verdict.self] = nil
            // A step may have answered by itself, or made something else of the answer.
            guard response.status == .switchingProtocols, case .accepted(let route, var handshake)? = verdict else {
                return .refused(response)
            }
            finishing?.run(request, &response)
            for field in response.otherFields { handshake.fields.append(field) }
            return .accepted(route, handshake)
        }
    }

    private static func decide(
        _ request: Request,
        _ route: WebSocketRoute,
        _ admit: AdmissionDecision?
    ) async throws -> Response {
        let verdict = try await admit?(request) ?? .accepted(route, AcceptedHandshake())
        if case .refused(let response) = verdict { return response }
        request[Verdict.self] = verdict
        return Response(status: .switchingProtocols)
    }
}
