// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Request {
    /// Notes who makes the request, once that was shown.
    func authenticate(as user: String) {
        self[AuthenticatedUser.self] = user
        noteAuthentication()
    }

    /// Notes that what the request has shown was right.
    func noteAuthentication() {
        for attempt in self[FailureAttempts.self] ?? [] { attempt.end() }
    }
}
