// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Answers the challenges of one server, or of one proxy, with a name and a password.
///
/// Keeps what it was challenged with, so that later requests need no round trip of their own, and distinguishes refused
/// credentials from an expired nonce.
package struct Authenticator: Sendable {
    /// Which schemes may be used.
    package enum Schemes: Sendable, Hashable {
        /// Basic, sent with the first request, before anybody has asked (RFC 7617 section 2.2).
        case basic
        /// Digest only, once it is asked for; a server that wants Basic doesn't get the password.
        case digest
        /// The strongest of both, once it is asked for.
        case strongest
    }

    private let credentials: PasswordCredentials
    private let schemes: Schemes
    private let digest: DigestChallenge.Digest
    private let nonce: @Sendable () -> [UInt8]
    private var challenge: DigestChallenge?
    private var usesBasic = false
    private var count: UInt32 = 0
    /// Whether an answer has been sent that the peer has not accepted yet.
    private var hasAnswered = false
    /// How often a nonce was stale without an answer having been accepted in between.
    private var staleCount = 0

    /// The most times in a row that a nonce may have grown old at once.
    private static let staleBound = 2

    /// Makes one.
    ///
    /// - Parameters:
    ///   - credentials: Who asks.
    ///   - schemes: Which schemes may be used.
    ///   - digest: Computes digests.
    ///   - nonce: Gives at least 16 random bytes, new ones at each call.
    package init(
        _ credentials: PasswordCredentials,
        schemes: Schemes,
        digest: @escaping DigestChallenge.Digest,
        nonce: @escaping @Sendable () -> [UInt8]
    ) {
        self.credentials = credentials
        self.schemes = schemes
        self.digest = digest
        self.nonce = nonce
        usesBasic = schemes == .basic
    }

    /// The value of Authorization, or of Proxy-Authorization, for the next request.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - target: The request's target as it stands in its first line.
    /// - Returns: nil while nobody has asked for credentials, or when they can't be said by the scheme.
    package mutating func value(method: String, target: String) -> String? {
        let value: String?
        if let challenge {
            count += 1
            value = challenge.answer(
                credentials,
                method: method,
                target: target,
                clientNonce: Base64.encode(nonce()),
                count: count,
                digest: digest
            )
        } else {
            value = usesBasic ? credentials.basicValue : nil
        }
        if value != nil { hasAnswered = true }
        return value
    }

    /// Takes note of a refusal (401 or 407), and says whether another request has a chance.
    ///
    /// - Parameter challenges: What the peer asks for.
    /// - Returns: Whether ``value(method:target:)`` now gives something that the peer hasn't refused already.
    package mutating func challenged(_ challenges: [AuthenticationChallenge]) -> Bool {
        let digests = schemes == .basic ? [] : challenges.compactMap(DigestChallenge.init).filter(isKnown)
        // RFC 7616 section 3.7 leaves the choice to a local policy: the strongest, whatever the order.
        if let best = digests.max(by: { $0.algorithm.rawValue < $1.algorithm.rawValue }) {
            if hasAnswered {
                guard best.isStale, staleCount < Self.staleBound else { return false }
                staleCount += 1
            }
            challenge = best
            count = 0
            return true
        }
        guard !hasAnswered, schemes == .strongest, challenges.contains(where: { $0.scheme == "basic" }),
            credentials.basicValue != nil
        else { return false }
        usesBasic = true
        return true
    }

    /// Takes note that a request was let through.
    package mutating func accepted() {
        hasAnswered = false
        staleCount = 0
    }

    private func isKnown(_ challenge: DigestChallenge) -> Bool {
        digest(challenge.algorithm, []) != nil
    }
}
