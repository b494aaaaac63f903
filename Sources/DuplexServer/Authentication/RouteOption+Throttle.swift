// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

// Guessing of passwords, made slow.

extension RouteOption {
    /// Refuses clients that have sent wrong credentials too often, with 429 and `Retry-After`, before any are checked.
    ///
    /// ```swift
    /// server.group("/admin", .basicAuth(realm: "admin", file: passwords), .throttleFailures()) { admin in … }
    /// ```
    ///
    /// Counted are requests with a field `Authorization` that are answered with 401, of each IPv4 address, and of each
    /// network of 64 bits in IPv6: whoever has one IPv6 address has all of these. Also of this machine, and of all clients
    /// of a Unix socket together. Right credentials clear nothing, as whoever guesses may have an account; requests without
    /// credentials are let through. At most 10,000 addresses are remembered.
    ///
    /// It stands before ``basicAuth(realm:accounts:)``, ``digestAuth(realm:accounts:options:)``, ``bearerAuth(realm:_:)``
    /// and the like, wherever it is written; before a step of the app's own, write it before that, and have that call
    /// ``Request/authenticate(as:)``.
    ///
    /// Hazard: behind a proxy all requests come from one address, unless the proxy sends the clients' addresses.
    ///
    /// - Parameters:
    ///   - limit: how many failures are answered as such. While as many requests of an address are being checked, others wait for them, up
    ///     to 10 s, and 1,000 requests at most; beyond that 429 says to come again after a second. Default: 10.
    ///   - window: in which time, from the first of them on. Default: 60 s.
    /// - Returns: the option; where several groups have the same one, their failures are counted together.
    public static func throttleFailures(_ limit: Int = 10, within window: Duration = .seconds(60)) -> RouteOption {
        let throttle = FailureThrottle(limit: limit, window: window)
        return RouteOption { settings in
            settings.durations.append(DurationSetting("window", window))
            settings.addBeforeAuthentication(
                .beforeWaiting { request in
                    guard request.fields[.authorization] != nil else { return nil }
                    let attempt = try await throttle.enter(request)
                    request[FailureAttempts.self] = (request[FailureAttempts.self] ?? []) + [attempt]
                    return nil
                }
            )
            settings.addFinishing { request, response in
                for attempt in request[FailureAttempts.self] ?? [] {
                    attempt.end(hasFailed: response.status == .unauthorized)
                }
            }
        }
    }
}
