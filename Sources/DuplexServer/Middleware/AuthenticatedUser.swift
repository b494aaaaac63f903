// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// The name of the user that a request has been authenticated as.
private enum AuthenticatedUser: RequestKey {
    typealias Value = String
}

extension Request {
    /// The name of the user that the request has been authenticated as; `nil` without authentication.
    ///
    /// The authentication of this library sets it. Middleware of your own sets it when it has found out who makes the request.
    /// What the request has shown counts as right from then on, for ``RouteOption/throttleFailures(_:within:)``: without this it
    /// counts as being checked until the response has been made.
    public var user: String? {
        get { self[AuthenticatedUser.self] }
        nonmutating set {
            self[AuthenticatedUser.self] = newValue
            if newValue != nil { noteAuthentication() }
        }
    }

    /// Notes that what the request has shown was right.
    func noteAuthentication() {
        for attempt in self[FailureAttempts.self] ?? [] { attempt.end() }
    }
}

/// What a request without the right credentials is answered with.
enum Challenges {
    /// The challenge of Basic (RFC 7617 section 2).
    static func basic(realm: String) -> String {
        "Basic realm=\(QuotedText.of(realm)), charset=\"UTF-8\""
    }

    /// 401 with challenges, each in a field of its own: not every client takes them apart.
    static func unauthorized(_ challenges: [String]) -> Problem {
        var problem = Problem(.unauthorized, "Who you are has to be shown.")
        for challenge in challenges { problem.headers.append(HTTPField(name: .wwwAuthenticate, value: challenge)) }
        return problem
    }
}
