// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a client answers to a challenge of the scheme Digest (RFC 7616 section 3.4), as a server reads it.
package struct DigestCredentials: Sendable, Hashable {
    /// The name of the user, or what ``DigestOffer/hash(ofUser:_:_:)`` makes of it.
    package let user: String
    /// Whether the name is hashed.
    package let hasHashedUser: Bool
    package let realm: String
    /// The target that the answer holds for.
    package let target: String
    package let nonce: String
    /// How many requests have been sent with the nonce, this one included; at least 1.
    package let count: UInt32
    package let algorithm: DigestAlgorithm
    package let opaque: String?

    private let clientNonce: String
    /// As it was sent, since that is what was hashed.
    private let countText: String
    private let response: [UInt8]

    /// Reads the value of Authorization.
    ///
    /// It is nil for another scheme, for several challenges in one value, for a parameter that is missing, malformed or
    /// there twice, and for an algorithm or a quality of protection that isn't offered: `auth` alone is.
    ///
    /// - Parameter value: The value of the field.
    package init?(_ value: String) {
        let answers = AuthenticationChallenge.parse([value])
        guard answers.count == 1, let answer = answers.first, answer.scheme == "digest", answer.token == nil,
            Set(answer.parameters.map(\.name)).count == answer.parameters.count,
            answer.parameters.allSatisfy({ PasswordCredentials.isPlain($0.value) }),
            let (user, isHashed) = Self.user(answer)
        else { return nil }
        let name = answer["algorithm"] ?? "MD5"
        guard let algorithm = DigestAlgorithm.allCases.first(where: { Grammar.matches($0.name, name) }),
            let realm = answer["realm"], let target = answer["uri"], let nonce = answer["nonce"],
            let protection = answer["qop"], Grammar.matches(protection, "auth"),
            let clientNonce = answer["cnonce"], !clientNonce.isEmpty,
            let countText = answer["nc"], countText.utf8.count == 8, let count = Self.number(countText), count > 0,
            let response = answer["response"].flatMap({ Base16.decode($0) }), response.count == algorithm.length
        else { return nil }
        self.user = user
        self.realm = realm
        self.target = target
        self.nonce = nonce
        self.count = count
        self.algorithm = algorithm
        self.clientNonce = clientNonce
        self.countText = countText
        self.response = response
        hasHashedUser = isHashed
        opaque = answer["opaque"]
    }

    /// RFC 7616 section 3.4: either of the two forms, and the hash in the plain one.
    private static func user(_ answer: AuthenticationChallenge) -> (String, Bool)? {
        let isHashed = Grammar.matches(answer["userhash"] ?? "false", "true")
        switch (answer["username"], answer["username*"]) {
        case (let user?, nil): return (isHashed ? Grammar.lowercased(user) : user, isHashed)
        case (nil, let user?) where !isHashed:
            guard let text = ExtendedText.decode(user), PasswordCredentials.isPlain(text) else { return nil }
            return (text, false)
        default: return nil
        }
    }

    private static func number(_ text: String) -> UInt32? {
        Base16.decode(text)?.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether the answer holds for the target of that request.
    ///
    /// RFC 7616 section 3.4.6: it is the same text, or stands for the same, since a proxy makes a path of a URL.
    package func isFor(_ head: RequestHead) -> Bool {
        if target == head.target { return true }
        guard let own = try? RequestTarget(target, method: head.method) else { return false }
        return own.path == head.path && own.query == head.query && (own.authority?.text ?? head.host) == head.host
    }

    /// Whether the response is the one that whoever knows the secret gives (RFC 7616 section 3.4.1); takes the same time
    /// for every secret.
    ///
    /// - Parameters:
    ///   - secret: The hash of name, realm and password; ``DigestSecret/hash(user:realm:_:_:)``.
    ///   - method: The request's method.
    ///   - digest: Computes the digests.
    /// - Returns: Whether it is; also false where the algorithm isn't to be had.
    package func isRight(_ secret: [UInt8], method: String, _ digest: DigestChallenge.Digest) -> Bool {
        guard let expected = reply(secret, method, digest) else { return false }
        return ConstantTime.areSame(expected, response)
    }

    /// The value of Authentication-Info (RFC 7616 section 3.5), by which the server shows that it knows the secret, too.
    package func acknowledgement(_ secret: [UInt8], _ digest: DigestChallenge.Digest) -> String? {
        reply(secret, "", digest).map { proof in
            "rspauth=\"\(Base16.encode(proof))\", cnonce=\(QuotedText.of(clientNonce)), nc=\(countText), qop=auth"
        }
    }

    private func reply(_ secret: [UInt8], _ method: String, _ digest: DigestChallenge.Digest) -> [UInt8]? {
        guard let request = digest(algorithm, Array("\(method):\(target)".utf8)) else { return nil }
        let protection = "\(nonce):\(countText):\(clientNonce):auth"
        return digest(algorithm, Array("\(Base16.encode(secret)):\(protection):\(Base16.encode(request))".utf8))
    }
}

/// What a server knows of a user's password for the scheme Digest: the password itself, or a hash of it (RFC 7616
/// section 3.4.2).
///
/// Hazard: whoever has the hash can answer challenges of its realm, as with the password; what it hides is the password
/// alone. Its description shows neither.
public struct DigestSecret: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    private enum Kind: Hashable {
        case password(String)
        case hash(DigestAlgorithm, [UInt8])
    }

    private let kind: Kind

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// A password; it does for every algorithm.
    public static func password(_ password: String) -> DigestSecret { DigestSecret(.password(password)) }

    /// A password that is written in the source.
    public init(stringLiteral value: String) {
        self.init(.password(value))
    }

    /// The hash of name, realm and password with colons between them, as htdigest files have it.
    ///
    /// It does for its algorithm only, which should be the only one that is offered then. It is nil for what isn't
    /// hexadecimal, or is of another length than the algorithm's digests.
    ///
    /// - Parameters:
    ///   - hexadecimal: The hash.
    ///   - algorithm: What it was made by.
    public init?(hash hexadecimal: String, _ algorithm: DigestAlgorithm) {
        guard let bytes = Base16.decode(hexadecimal), bytes.count == algorithm.length else { return nil }
        self.init(.hash(algorithm, bytes))
    }

    /// That there is one.
    public var description: String { "secret (hidden)" }

    /// The hash of name, realm and password by an algorithm; nil where it isn't known.
    ///
    /// A hash is computed either way, so that the time doesn't reveal what is stored.
    package func hash(
        user: String,
        realm: String,
        _ algorithm: DigestAlgorithm,
        _ digest: DigestChallenge.Digest
    ) -> [UInt8]? {
        let password = if case .password(let password) = kind { password } else { "" }
        let computed = digest(algorithm, Array("\(user):\(realm):\(password)".utf8))
        switch kind {
        case .password: return computed
        case .hash(let own, let bytes): return own == algorithm ? bytes : nil
        }
    }

    /// The algorithm of a hash; nil for a password.
    package var algorithm: DigestAlgorithm? {
        if case .hash(let algorithm, _) = kind { algorithm } else { nil }
    }
}
