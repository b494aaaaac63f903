// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// A server's decision on a request for a WebSocket, with what the response says besides.
///
/// `Value` is passed to the handler, such as the user or the tenant. A route whose decision is that value alone, or an error,
/// needs no `Admission`: its `admit` returns the value, and throws.
public struct Admission<Value: Sendable>: Sendable {
    enum Outcome: Sendable {
        case accepted(Value, AcceptedHandshake)
        case refused(Response)
    }

    let outcome: Outcome

    /// Opens the WebSocket, with further fields, a subprotocol or compression.
    ///
    /// - Parameters:
    ///   - value: what the handler gets.
    ///   - headers: sent with the 101, such as cookies; those that make the handshake can't be replaced.
    ///   - subprotocol: one of those that the client asks for. Default: the first of the route's that it asks for.
    ///   - compression: whether messages are compressed, where the route has that and the client offers it; false declines
    ///     the offer of this client, also where it would be required.
    /// - Returns: the decision.
    public static func accepted(
        _ value: Value,
        headers: HTTPFields = [:],
        subprotocol: String? = nil,
        compression: Bool = true
    ) -> Admission {
        let handshake = AcceptedHandshake(headers: headers, subprotocol: subprotocol, compression: compression)
        return Admission(outcome: .accepted(value, handshake))
    }

    /// Refuses the WebSocket with another status than 101; the connection continues with HTTP.
    ///
    /// - Parameter response: any status but 1xx, its fields and its body.
    /// - Returns: the decision.
    public static func refused(_ response: some ResponseConvertible) -> Admission {
        let response = response.response
        precondition(response.status.code >= 200, "A refusal is a final answer.")
        return Admission(outcome: .refused(response))
    }

    /// Answers with that status and a sentence for people.
    package static func refused(_ status: HTTPResponse.Status, _ sentence: String) -> Admission {
        refused(Problem(status, sentence).response(for: nil))
    }
}

extension Admission where Value == Void {
    /// Opens the WebSocket.
    public static var accepted: Admission { accepted(()) }

    /// Opens the WebSocket, with further fields, a subprotocol or compression; see
    /// ``accepted(_:headers:subprotocol:compression:)``.
    public static func accepted(
        headers: HTTPFields = [:],
        subprotocol: String? = nil,
        compression: Bool = true
    ) -> Admission {
        accepted((), headers: headers, subprotocol: subprotocol, compression: compression)
    }
}

/// The fields of the 101 besides those of the handshake itself.
struct AcceptedHandshake: Sendable {
    var headers: HTTPFields = [:]
    var subprotocol: String?
    var compression = true
}

/// The decision on a WebSocket behind the middleware of its route, which sees the request as it sees any other, and in place of a
/// handler's response that of the decision, 101 or a refusal.
struct AdmissionSteps: Sendable {
    /// The decision and the middleware in front of it, put together once.
    private let handler: RouteHandler
    private let finishing: ResponseMiddleware?

    /// What was decided, noted with the request for when the middleware has had its way.
    private enum Verdict: RequestKey {
        typealias Value = AdmissionVerdict
    }

    init(_ settings: RouteSettings, _ route: WebSocketRoute, _ admit: AdmissionDecision?) {
        handler = RouteHandler.task { request in try await Self.decide(request, route, admit) }.behind(
            settings.middleware
        )
        finishing = settings.finishing
    }

    var decision: AdmissionDecision {
        { request in
            var response = try await handler(request)
            let verdict = request[Verdict.self]
            request[Verdict.self] = nil
            // Middleware may have answered by itself, or made something else of the answer.
            guard response.status == .switchingProtocols, case .accepted(let route, var handshake)? = verdict else {
                return .refused(response)
            }
            finishing?.run(request, &response)
            for field in response.otherFields { handshake.headers.append(field) }
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
        return Response(.switchingProtocols)
    }
}
