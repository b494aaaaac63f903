// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The answer to a challenge of the scheme Digest, by which a password is shown to be known without being sent
/// (RFC 7616).
///
/// Quality of protection is `auth`; what older servers ask for without one (RFC 2069) is answered, too. The digests are
/// handed in, since this module computes none.
package struct DigestChallenge: Sendable, Hashable {
    /// A digest of any bytes; nil where it isn't available.
    package typealias Digest = @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8]?

    /// The algorithm.
    package let algorithm: DigestAlgorithm
    /// What the credentials are for, for people.
    package let realm: String
    /// The server's number, which the answer holds for.
    package let nonce: String
    /// Whether the answer to another challenge was right except that its nonce was too old.
    package let isStale: Bool

    private let opaque: String?
    private let isSession: Bool
    private let hasProtection: Bool
    private let hashesUser: Bool
    private let isUTF8: Bool

    /// Reads a challenge.
    ///
    /// It is nil if that isn't of this scheme, if its algorithm isn't known, if it asks for the protection of the body
    /// alone (`auth-int`), or if realm or nonce are missing.
    ///
    /// - Parameter challenge: One of any scheme.
    package init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"] else {
            return nil
        }
        var name = challenge["algorithm"] ?? "MD5"
        isSession = Grammar.matches(name.suffix(5), "-sess")
        if isSession { name.removeLast(5) }
        guard let algorithm = DigestAlgorithm.allCases.first(where: { Grammar.matches($0.name, name) }) else {
            return nil
        }
        let protections = challenge["qop"].map(Grammar.list)
        if let protections, !protections.contains(where: { Grammar.matches($0, "auth") }) { return nil }
        guard PasswordCredentials.isPlain(realm + nonce + (challenge["opaque"] ?? "")) else { return nil }
        self.algorithm = algorithm
        self.realm = realm
        self.nonce = nonce
        opaque = challenge["opaque"]
        hasProtection = protections != nil
        isStale = Grammar.matches(challenge["stale"] ?? "", "true")
        hashesUser = Grammar.matches(challenge["userhash"] ?? "", "true")
        isUTF8 = Grammar.matches(challenge["charset"] ?? "", "UTF-8")
    }

    /// The value of Authorization, or of Proxy-Authorization, for one request.
    ///
    /// - Parameters:
    ///   - credentials: Who asks.
    ///   - method: The request's method.
    ///   - target: The request's target as it stands in its first line.
    ///   - clientNonce: A number of this side's, not used before; at least 16 random bytes in base64.
    ///   - count: How many requests have been sent with ``nonce``, this one included.
    ///   - digest: Computes the digests.
    /// - Returns: nil if the algorithm isn't available, or if the name or the password has a control character.
    package func answer(
        _ credentials: PasswordCredentials,
        method: String,
        target: String,
        clientNonce: String,
        count: UInt32 = 1,
        digest: Digest
    ) -> String? {
        guard PasswordCredentials.isPlain(credentials.user + credentials.password + clientNonce) else { return nil }
        func hash(_ text: String) -> String? { digest(algorithm, Array(text.utf8)).map { Base16.encode($0) } }
        guard var secret = hash("\(credentials.user):\(realm):\(credentials.password)"),
            let request = hash("\(method):\(target)"), let hashedUser = hash("\(credentials.user):\(realm)")
        else { return nil }
        if isSession {
            guard let session = hash("\(secret):\(nonce):\(clientNonce)") else { return nil }
            secret = session
        }
        let number = Base16.encode([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) })
        let middle = hasProtection ? "\(number):\(clientNonce):auth:" : ""
        guard let response = hash("\(secret):\(nonce):\(middle)\(request)") else { return nil }
        var parts = [user(credentials.user, hashed: hashedUser)]
        parts += ["realm=\(QuotedText.of(realm))", "uri=\(QuotedText.of(target))", "algorithm=\(algorithmName)"]
        parts += ["nonce=\(QuotedText.of(nonce))"]
        if hasProtection { parts += ["nc=\(number)"] }
        if hasProtection || isSession { parts += ["cnonce=\(QuotedText.of(clientNonce))"] }
        if hasProtection { parts += ["qop=auth"] }
        parts += ["response=\"\(response)\""]
        if let opaque { parts += ["opaque=\(QuotedText.of(opaque))"] }
        if hashesUser { parts += ["userhash=true"] }
        return "Digest " + parts.joined(separator: ", ")
    }

    private var algorithmName: String { algorithm.name + (isSession ? "-sess" : "") }

    /// RFC 7616 section 3.4: hashed if the server asks for it, and otherwise in the one form that has room for it.
    private func user(_ user: String, hashed: String) -> String {
        if hashesUser { return "username=\"\(hashed)\"" }
        if !isUTF8 || user.utf8.allSatisfy({ $0 < 0x80 }) { return "username=\(QuotedText.of(user))" }
        return "username*=" + ExtendedText.encode(user)
    }
}

/// The challenges of a server by the scheme Digest (RFC 7616 section 3.3): one for each algorithm, the preferred one first.
///
/// Quality of protection is `auth` always: without one a repeated answer couldn't be detected.
package struct DigestOffer: Sendable, Hashable {
    package let realm: String
    package let algorithms: [DigestAlgorithm]
    /// Whether clients are asked to hash the names of users.
    package let hashesUsers: Bool

    package init(realm: String, algorithms: [DigestAlgorithm], hashesUsers: Bool) {
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
        _ algorithm: DigestAlgorithm,
        _ digest: DigestChallenge.Digest
    ) -> String? {
        digest(algorithm, Array("\(user):\(realm)".utf8)).map { Base16.encode($0) }
    }
}
