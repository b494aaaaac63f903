// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
public import DuplexWire
import HTTPTypes
import Synchronization

/// Asks for Digest, and judges what comes.
///
/// Nonces aren't kept: they say by themselves when they were made, under a key of this process. What is kept, in bounded
/// memory, is which counts were used with those that are in use.
private final class DigestGuard: Sendable {
    /// What a request has in Authorization.
    enum Claim {
        case digest(DigestCredentials)
        case password(PasswordCredentials)

        /// The name of the user, or its hash.
        var user: String {
            switch self {
            case .digest(let answer): answer.user
            case .password(let credentials): credentials.user
            }
        }

        var hasHashedUser: Bool {
            if case .digest(let answer) = self { answer.hasHashedUser } else { false }
        }
    }

    private let offer: DigestOffer
    private let offersBasic: Bool
    private let opaque: String
    private let counts: Mutex<DigestNonceCounts>
    /// Nobody's, so that unknown users cost what known ones do.
    private let decoy = DigestSecret.password(RandomText.hexadecimal())
    /// In place of an unknown hash; no answer matches it.
    private let unknownHash = Base16.decode(RandomText.hexadecimal()) ?? []

    private static let digest: DigestChallenge.Digest = { HTTPDigest.digest($0, $1) }
    private static let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    private static let code: DigestNonce.Code = { HTTPDigest.code(key, $0) }

    init(realm: String, _ options: DigestOptions, algorithms: [DigestAlgorithm]) {
        let known = algorithms.filter { Self.digest($0, []) != nil }
        precondition(!known.isEmpty, "Digest needs an algorithm that this machine's OpenSSL has.")
        offer = DigestOffer(realm: realm, algorithms: known, hashesUsers: options.hashesUsers)
        offersBasic = options.offersBasic
        opaque = Base16.encode(Self.code(Array("opaque \(realm)".utf8)).prefix(16))
        counts = Mutex(DigestNonceCounts(lifetime: options.nonceLifetime))
    }

    /// The names behind the hashes that clients may send, if they are asked to.
    func names(of users: some Sequence<String>) -> [String: String] {
        var names: [String: String] = [:]
        guard offer.hashesUsers else { return names }
        for user in users {
            for algorithm in offer.algorithms {
                if let hash = offer.hash(ofUser: user, algorithm, Self.digest) { names[hash] = user }
            }
        }
        return names
    }

    /// What the request claims.
    ///
    /// - Throws: ``Problem`` with 401 if it claims nothing that can be read.
    func claim(of request: Request) throws -> Claim {
        let values = request.headers[values: .authorization]
        if values.count == 1 {
            if let answer = DigestCredentials(values[0]) { return .digest(answer) }
            if offersBasic, let password = PasswordCredentials(basic: values[0]) { return .password(password) }
        }
        throw refusal(at: request.connection.now)
    }

    /// Lets the request through, as that user's.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - claim: what it claims.
    ///   - user: the name of the user.
    ///   - secret: the user's, or `nil` for a user who isn't known.
    /// - Throws: ``Problem`` with 401 if the claim is wrong; with 400 if it is right for another target.
    func admit(_ request: Request, _ claim: Claim, as user: String, _ secret: DigestSecret?) throws {
        let instant = request.connection.now
        switch claim {
        case .password(let credentials):
            guard isRight(credentials, secret) else { throw refusal(at: instant) }
        case .digest(let answer):
            guard answer.realm == offer.realm, offer.algorithms.contains(answer.algorithm) else {
                throw refusal(at: instant)
            }
            // RFC 7616 section 3.4.6: it may be a sign of an attack.
            guard answer.isFor(request.head) else {
                throw Problem(.badRequest, "The answer to the challenge is for another target.")
            }
            let known = (secret ?? decoy).hash(user: user, realm: offer.realm, answer.algorithm, Self.digest)
            let hash = known ?? unknownHash
            let isRight = answer.isRight(hash, method: request.method.rawValue, Self.digest)
            guard isRight, known != nil, secret != nil else { throw refusal(at: instant) }
            guard isFresh(answer, at: instant) else {
                request.noteAuthentication()
                throw refusal(isStale: true, at: instant)
            }
            request[DigestProof.self] = answer.acknowledgement(hash, Self.digest)
        }
        request.user = user
    }

    private func isRight(_ credentials: PasswordCredentials, _ secret: DigestSecret?) -> Bool {
        let algorithm = secret?.algorithm ?? offer.algorithms[0]
        let hash = { (secret: DigestSecret) in
            secret.hash(user: credentials.user, realm: self.offer.realm, algorithm, Self.digest)
        }
        let known = hash(secret ?? decoy) ?? unknownHash
        let isRight = ConstantTime.areSame(known, hash(.password(credentials.password)) ?? [])
        return isRight && secret != nil
    }

    /// Whether the answer is for a nonce of this process that is young, with a count that wasn't used.
    private func isFresh(_ answer: DigestCredentials, at instant: Instant) -> Bool {
        guard answer.opaque ?? opaque == opaque,
            let nonce = DigestNonce(answer.nonce, realm: offer.realm, Self.code)
        else { return false }
        return counts.withLock { $0.use(nonce, answer.count, at: instant) }
    }

    private func refusal(isStale: Bool = false, at instant: Instant) -> Problem {
        let nonce = DigestNonce(made: instant, salt: .random(in: .min ... .max)).text(realm: offer.realm, Self.code)
        var values = offer.values(nonce: nonce, opaque: opaque, isStale: isStale)
        if offersBasic { values.append(Challenges.basic(realm: offer.realm)) }
        return Challenges.unauthorized(values)
    }
}

/// What the response to a request says of the server's own knowledge of the secret.
private enum DigestProof: RequestKey {
    typealias Value = String
}

/// How a route asks for Digest (RFC 7616); see ``RouteOption/digestAuth(realm:accounts:options:)``.
public struct DigestOptions: Sendable {
    /// The algorithms that are offered, the preferred one first.
    package var algorithms: [DigestAlgorithm]
    /// Whether Basic is offered as well, after Digest.
    package var offersBasic: Bool
    /// Whether clients are asked to hash the names of users.
    package var hashesUsers: Bool
    /// How long a nonce is good.
    package var nonceLifetime: Duration

    /// Makes options.
    ///
    /// curl, httpx and aiohttp answer the first algorithm, Chromium the first one that it knows, and Python's requests the last
    /// one. Few know SHA-512-256, and curl 7.88 answers it wrongly: put it after SHA-256. MD5 is for clients that know nothing
    /// else, such as those of WebDAV in older systems; leave it out if there are none.
    ///
    /// - Parameters:
    ///   - algorithms: The algorithms to offer, the preferred one first; at least one. An algorithm that this machine's OpenSSL
    ///     doesn't have isn't offered. Default: SHA-256, then MD5.
    ///   - offersBasic: Whether to offer Basic as well, after Digest. Hazard: a client that answers it sends the password as it
    ///     is. Default: false.
    ///   - hashesUsers: Whether to ask clients to hash the names of users, so that they can't be read on the way (RFC 7616 section
    ///     3.4.4). Of account lists only: a closure isn't asked for hashes. Default: false.
    ///   - nonceLifetime: How long a nonce is good. Then a client that knows the password repeats its request with a new one, and
    ///     nobody is asked. Default: 300 s.
    public init(
        algorithms: [DigestAlgorithm] = [.sha256, .md5],
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

extension RouteOption {
    /// Requires the password of an account, by Digest (RFC 7616), which doesn't send it; others get 401.
    ///
    /// ```swift
    /// server.group("/admin", .digestAuth(realm: "admin", accounts: ["mia": "a secret"])) { admin in … }
    /// ```
    ///
    /// The name is `request.user` then. It guards WebSockets as well. A user who isn't known costs what one
    /// costs who is. An answer counts once, for the method and the target that it was made for; of those that are in use
    /// at a time, 4,096 nonces are remembered. Responses say by `Authentication-Info` that the server knows the password, too.
    ///
    /// Where an account has a hash, the algorithms are offered that all accounts can be checked by, if there are any.
    ///
    /// Hazard: only the password is hidden, and a weak one can be found out from one request. Use it over TLS for anything
    /// that matters. Nonces hold for one process: behind a balancer, requests of a client should come to the same one.
    ///
    /// - Parameters:
    ///   - realm: what the password is for, as browsers show it. Without quotation marks and backslashes, which clients don't
    ///     agree on here.
    ///   - accounts: the passwords, or their hashes, by the users' names.
    ///   - options: the algorithms, and what else there is to choose. Default: `DigestOptions()`.
    /// - Returns: the option.
    public static func digestAuth(
        realm: String,
        accounts: [String: DigestSecret],
        options: DigestOptions = DigestOptions()
    ) -> RouteOption {
        let usable = options.algorithms.filter { algorithm in
            accounts.values.allSatisfy { $0.algorithm == nil || $0.algorithm == algorithm }
        }
        let digest = DigestGuard(realm: realm, options, algorithms: usable.isEmpty ? options.algorithms : usable)
        let names = digest.names(of: accounts.keys)
        return digestAuth(
            options,
            .before { request in
                let claim = try digest.claim(of: request)
                let user = claim.hasHashedUser ? names[claim.user] : claim.user
                try digest.admit(request, claim, as: user ?? claim.user, user.flatMap { accounts[$0] })
                return nil
            }
        )
    }

    /// Requires the secret that the app has of a user, by Digest; others get 401.
    ///
    /// As ``digestAuth(realm:accounts:options:)``; clients aren't asked to hash names.
    ///
    /// - Parameters:
    ///   - realm: what the password is for, as browsers show it.
    ///   - options: the algorithms, and what else there is to choose. Default: `DigestOptions()`.
    ///   - secret: the password of a user or its hash, or `nil` for an unknown one. It may take its time, the same for
    ///     both; an error that it throws is answered like one of a handler.
    /// - Returns: the option.
    public static func digestAuth(
        realm: String,
        options: DigestOptions = DigestOptions(),
        _ secret: @escaping @Sendable (_ user: String) async throws -> DigestSecret?
    ) -> RouteOption {
        var options = options
        options.hashesUsers = false
        let digest = DigestGuard(realm: realm, options, algorithms: options.algorithms)
        return digestAuth(
            options,
            .beforeWaiting { request in
                let claim = try digest.claim(of: request)
                let known = claim.hasHashedUser ? nil : try await secret(claim.user)
                try digest.admit(request, claim, as: claim.user, known)
                return nil
            }
        )
    }

    private static func digestAuth(_ options: DigestOptions, _ middleware: RouteMiddleware) -> RouteOption {
        RouteOption { settings in
            settings.durations.append(DurationSetting("nonceLifetime", options.nonceLifetime))
            settings.addAuthentication(middleware)
            settings.addFinishing { request, response in
                if let proof = request[DigestProof.self] { response.otherFields[.authenticationInfo] = proof }
            }
        }
    }
}
