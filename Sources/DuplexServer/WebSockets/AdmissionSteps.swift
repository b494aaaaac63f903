// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// The decision on a WebSocket behind the steps of its route: they see the request as they see any other, and in place of a
/// handler's response that of the decision, 101 or a refusal.
struct AdmissionSteps: Sendable {
    private let steps: [RouteStep]
    private let finishing: ResponseSteps?
    private let route: WebSocketRoute
    private let admit: AdmissionDecision?

    init(_ settings: RouteSettings, _ route: WebSocketRoute, _ admit: AdmissionDecision?) {
        steps = settings.steps
        finishing = settings.finishing
        self.route = route
        self.admit = admit
    }

    /// What the innermost has decided.
    private final class Box: Sendable {
        let verdict = Mutex<AdmissionVerdict?>(nil)
    }

    var decision: AdmissionDecision {
        { request in
            let box = Box()
            let handler = RouteHandler.task { request in try await decide(request, box) }.behind(steps)
            var response = try await handler(request)
            // A step may have answered by itself, or made something else of the answer.
            guard response.status == .switchingProtocols, let verdict = box.verdict.withLock({ $0 }),
                case .accepted(let route, var handshake) = verdict
            else { return .refused(response) }
            finishing?.run(request, &response)
            for field in response.otherFields { handshake.fields.append(field) }
            return .accepted(route, handshake)
        }
    }

    private func decide(_ request: Request, _ box: Box) async throws -> Response {
        switch try await admit?(request) ?? .accepted(route, AcceptedHandshake()) {
        case .refused(let response): return response
        case .accepted(let route, let handshake):
            box.verdict.withLock { $0 = .accepted(route, handshake) }
            return Response(status: .switchingProtocols)
        }
    }
}
