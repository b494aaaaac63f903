// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// How a route asks for Digest (RFC 7616); see ``RouteOption/digestAuth(realm:accounts:options:)``.
public struct DigestOptions: Sendable {
    /// The algorithms that are offered, the preferred one first; at least one.
    ///
    /// Default: SHA-256, then MD5.
    ///
    /// curl, httpx and aiohttp answer the first one, Chromium the first one that it knows, and Python's requests the last
    /// one. Few know SHA-512-256, and curl 7.88 answers it wrongly: put it behind SHA-256. MD5 is for clients that know
    /// nothing else, such as those of WebDAV in older systems; leave it out where there are none. What this machine's
    /// OpenSSL doesn't have isn't offered.
    public var algorithms: [DigestChallenge.Algorithm]
    /// Whether Basic is offered as well, behind Digest.
    ///
    /// Hazard: who answers it sends the password as it is. Default: false.
    public var offersBasic: Bool
    /// Whether clients are asked to hash the names of users, so that nobody on the way reads them (RFC 7616 section 3.4.4).
    ///
    /// Of account lists only: a closure isn't asked for hashes. Default: false.
    public var hashesUsers: Bool
    /// How long a nonce is good.
    ///
    /// Then a client that knows the password repeats its request with a new one, and nobody is asked. Default: 300 s.
    public var nonceLifetime: Duration

    /// Makes options.
    ///
    /// - Parameters:
    ///   - algorithms: see ``algorithms``.
    ///   - offersBasic: see ``offersBasic``.
    ///   - hashesUsers: see ``hashesUsers``.
    ///   - nonceLifetime: see ``nonceLifetime``.
    public init(
        algorithms: [DigestChallenge.Algorithm] = [.sha256, .md5],
        offersBasic: Bool = false,
        hashesUsers: Bool = false,
        nonceLifetime: Duration = .seconds(300)
    ) {
        self.algorithms = algorithms
        self.offersBasic = offersBasic
        self.hashesUsers = hashesUsers
        self.nonceLifetime = nonceLifetime
    }
}
