// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// What a server decides on a request for a WebSocket, once it has looked at it.
public struct Admission: Sendable {
    /// Decides on a request; may take its time, while what the client sends waits.
    ///
    /// Runs on the connection's loop and must not block it. What it throws is logged and answered with 500.
    public typealias Decision = @Sendable (Request) async throws -> Admission

    enum Outcome: Sendable {
        case accepted(HTTPFields, subprotocol: String?, compression: Bool)
        case refused(Response)
    }

    let outcome: Outcome

    /// Opens the WebSocket.
    public static let accepted = Admission.accepted()

    /// Opens the WebSocket, and says something with it.
    ///
    /// - Parameters:
    ///   - fields: sent with the 101, such as cookies; those that make the handshake can't be replaced.
    ///   - subprotocol: one of those that the client asks for; the first of `WebServer.subprotocols` that it asks for
    ///     unless told otherwise.
    ///   - compression: whether messages are compressed, where `WebServer.compression` has that and the client offers it;
    ///     false declines the offer of this client, also where it would be required.
    /// - Returns: the decision.
    public static func accepted(
        fields: HTTPFields = [:],
        subprotocol: String? = nil,
        compression: Bool = true
    ) -> Admission {
        Admission(outcome: .accepted(fields, subprotocol: subprotocol, compression: compression))
    }

    /// Answers with another status than 101; the connection stays with HTTP.
    ///
    /// - Parameter response: any status but 1xx, its fields and its body.
    /// - Returns: the decision.
    public static func refused(_ response: some ResponseConvertible) -> Admission {
        let response = response.response
        precondition(response.status.code >= 200, "A refusal is a final answer.")
        return Admission(outcome: .refused(response))
    }

    /// Answers with that status and a sentence for people.
    public static func refused(_ status: HTTPResponse.Status, _ sentence: String) -> Admission {
        refused(Response.problem(status, sentence))
    }
}
