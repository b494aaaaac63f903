// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

// Who makes a request, by Digest (RFC 7616), before its body is asked for.

extension RouteOption {
    /// Requires the password of an account, by Digest, which doesn't send it; others get 401.
    ///
    /// ```swift
    /// server.group("/admin", .digestAuth(realm: "admin", accounts: ["mia": "a secret"])) { admin in … }
    /// ```
    ///
    /// The name is `request[AuthenticatedUser.self]` then. It guards WebSockets as well. A user who isn't known costs what one
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

    private static func digestAuth(_ options: DigestOptions, _ step: RouteStep) -> RouteOption {
        RouteOption { settings in
            settings.durations.append(DurationSetting("nonceLifetime", options.nonceLifetime))
            settings.addAuthentication(step)
            settings.addFinishing { request, response in
                if let proof = request[DigestProof.self] { response.otherFields[.authenticationInfo] = proof }
            }
        }
    }
}
