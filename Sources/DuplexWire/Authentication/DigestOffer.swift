// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The challenges of a server by the scheme Digest (RFC 7616 section 3.3): one for each algorithm, the preferred one first.
///
/// Quality of protection is `auth` always: without one a repeated answer couldn't be detected.
package struct DigestOffer: Sendable, Hashable {
    package let realm: String
    package let algorithms: [DigestChallenge.Algorithm]
    /// Whether clients are asked to hash the names of users.
    package let hashesUsers: Bool

    package init(realm: String, algorithms: [DigestChallenge.Algorithm], hashesUsers: Bool) {
        self.realm = realm
        self.algorithms = algorithms
        self.hashesUsers = hashesUsers
    }

    /// The values of WWW-Authenticate, each for a field of its own.
    ///
    /// All have the same nonce, and each names its algorithm: some clients read them as one challenge whose last
    /// parameters count.
    ///
    /// - Parameters:
    ///   - nonce: The number that answers hold for.
    ///   - opaque: What clients send back as it is.
    ///   - isStale: Whether the answer was right except for its nonce, and nobody needs to be asked for a password.
    /// - Returns: The values.
    package func values(nonce: String, opaque: String, isStale: Bool) -> [String] {
        algorithms.map { algorithm in
            var parts = ["realm=\(QuotedText.of(realm))", "qop=\"auth\"", "algorithm=\(algorithm.name)"]
            parts += ["nonce=\(QuotedText.of(nonce))", "opaque=\(QuotedText.of(opaque))", "charset=UTF-8"]
            if hashesUsers { parts.append("userhash=true") }
            if isStale { parts.append("stale=true") }
            return "Digest " + parts.joined(separator: ", ")
        }
    }

    /// What stands for a user's name where names are hashed (RFC 7616 section 3.4.4), in lower case.
    package func hash(
        ofUser user: String,
        _ algorithm: DigestChallenge.Algorithm,
        _ digest: DigestChallenge.Digest
    ) -> String? {
        digest(algorithm, Array("\(user):\(realm)".utf8)).map { Base16.encode($0) }
    }
}
