// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Request {
    /// Notes who makes the request, once a step of the app's own has found that out: `request[AuthenticatedUser.self]`.
    ///
    /// The steps of this library do so by themselves. What was shown counts as right from then on, for
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
