// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a server knows of a user's password for the scheme Digest: the password itself, or a hash of it (RFC 7616
/// section 3.4.2).
///
/// Hazard: whoever has the hash can answer challenges of its realm, as with the password; what it hides is the password
/// alone. Its description shows neither.
public struct DigestSecret: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    private enum Kind: Hashable {
        case password(String)
        case hash(DigestChallenge.Algorithm, [UInt8])
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
    public init?(hash hexadecimal: String, _ algorithm: DigestChallenge.Algorithm) {
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
        _ algorithm: DigestChallenge.Algorithm,
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
    package var algorithm: DigestChallenge.Algorithm? {
        if case .hash(let algorithm, _) = kind { algorithm } else { nil }
    }
}
