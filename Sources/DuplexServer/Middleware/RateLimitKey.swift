// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire
import HTTPTypes

/// Whose requests are counted together.
@nonexhaustive
public enum RateLimitKey: Sendable {
    /// Those of an IPv4 address, or of the 64 bits of an IPv6 address that a provider gives out.
    ///
    /// Requests from this machine and by Unix sockets aren't counted: a proxy has those of many. If it names the
    /// clients, with the PROXY protocol, those are counted; for a field that a trusted proxy adds see ``key(_:)``.
    case address
    /// Those for which a closure returns the same text, such as the name of a user; `nil` for a request that isn't counted.
    ///
    /// ```swift
    /// server.use(.bearerAuth(realm: "api", check))
    /// server.use(.rateLimit(.perMinute(600), by: .key { $0.user }))
    /// ```
    case key(@Sendable (Request) -> String?)

    /// What is kept of a client, whatever its key is made of; `nil` for one that isn't counted.
    func hash(_ request: Request) -> Int? {
        switch self {
        case .address:
            guard let address = request.remoteAddress, address.isCounted else { return nil }
            let network = address.networkNumber
            var hasher = Hasher()
            hasher.combine(network.isIPv6)
            hasher.combine(network.bits)
            return hasher.finalize()
        case .key(let key): return key(request).map { Self.digest($0) }
        }
    }

    /// With a secret of this process, so that nobody finds two keys with the same one.
    private static func digest(_ value: some Hashable) -> Int {
        var hasher = Hasher()
        hasher.combine(value)
        return hasher.finalize()
    }
}

extension RouteOption {
    /// Refuses clients that ask too often, with 429 and `Retry-After` (RFC 6585 section 4).
    ///
    /// Each client has a bucket of tokens: a request takes one, and they come back at the rate. A refused request takes none.
    /// The buckets are the option's: where it stands with a group or the server, its routes share them.
    ///
    /// ```swift
    /// server.use(.rateLimit(.perSecond(10, burst: 20)))
    /// ```
    ///
    /// - Parameters:
    ///   - rate: how often a client may ask in the long run, and how many requests it may make at once after it has been silent.
    ///   - key: whose requests are counted together. Default: those of an address.
    ///   - clients: how many clients are kept at most, about 50 bytes each; those that asked least lately are forgotten beyond
    ///     that, and begin again. Default: 100,000.
    /// - Returns: the option.
    public static func rateLimit(
        _ rate: RateLimit,
        by key: RateLimitKey = .address,
        clients: Int = 100_000
    ) -> RouteOption {
        let buckets = SharedBuckets(interval: rate.interval, burst: rate.burst, capacity: clients)
        return .rateLimit(buckets, by: key)
    }

    static func rateLimit(_ buckets: SharedBuckets, by key: RateLimitKey) -> RouteOption {
        .before { request in
            guard let key = key.hash(request), let wait = buckets.take(key, now: request.connection.now) else {
                return nil
            }
            throw Problem(.tooManyRequests, "You are asking too often.", headers: [.retryAfter: RetryAfter.value(wait)])
        }
    }
}
