// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// The name of the user that a request has been authenticated as: `request[AuthenticatedUser.self]`.
public enum AuthenticatedUser: RequestKey {
    /// The name.
    public typealias Value = String
}

extension Request {
    /// Notes who makes the request, once middleware of the app's own has found that out: `request[AuthenticatedUser.self]`.
    ///
    /// The middleware of this library does so by itself. What was shown counts as right from then on, for
    /// ``RouteOption/throttleFailures(_:within:)``: without this it counts as being checked until the response has been made.
    ///
    /// - Parameter user: the name.
    public func authenticate(as user: String) {
        self[AuthenticatedUser.self] = user
        noteAuthentication()
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
