// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
import HTTPTypes

// Who makes a request, by Basic (RFC 7617) or by a token (RFC 6750), before its body is asked for.

extension RouteOption {
    /// Lets in whoever has the password of an account, by Basic; others get 401.
    ///
    /// The name is `request[AuthenticatedUser.self]` then. It guards WebSockets as well. A user who isn't known costs what one
    /// costs who is, and passwords are compared in constant time.
    ///
    /// Hazard: the password goes over the connection as it is. Use it over TLS, or on this machine.
    ///
    /// - Parameters:
    ///   - realm: what the password is for, as browsers show it.
    ///   - accounts: the passwords by the users' names.
    /// - Returns: the option.
    public static func basicAuth(realm: String, accounts: [String: String]) -> RouteOption {
        let secrets = accounts.mapValues { Array($0.utf8) }
        // Nobody's.
        let decoy = Array(RandomText.hexadecimal().utf8)
        return .before { request in
            guard let credentials = Self.credentials(of: request) else { throw Self.unauthorized(realm) }
            let secret = secrets[credentials.user]
            let isRight = ConstantTime.areSame(secret ?? decoy, Array(credentials.password.utf8))
            guard isRight && secret != nil else { throw Self.unauthorized(realm) }
            request[AuthenticatedUser.self] = credentials.user
            return nil
        }
    }

    /// Lets in whom the app knows by name and password, by Basic; others get 401.
    ///
    /// The name is `request[AuthenticatedUser.self]` then. It guards WebSockets as well.
    ///
    /// - Parameters:
    ///   - realm: what the password is for, as browsers show it.
    ///   - check: whether the credentials are right. It may take its time; what it throws is answered as what a handler throws.
    /// - Returns: the option.
    public static func basicAuth(
        realm: String,
        _ check: @escaping @Sendable (PasswordCredentials) async throws -> Bool
    ) -> RouteOption {
        .before { request async throws in
            guard let credentials = Self.credentials(of: request), try await check(credentials) else {
                throw Self.unauthorized(realm)
            }
            request[AuthenticatedUser.self] = credentials.user
            return nil
        }
    }

    /// Lets in whose token the app knows (RFC 6750); others get 401.
    ///
    /// - Parameters:
    ///   - realm: what the token is for.
    ///   - check: the name of whose the token is, for `request[AuthenticatedUser.self]`, or `nil`.
    /// - Returns: the option.
    public static func bearerAuth(
        realm: String,
        _ check: @escaping @Sendable (_ token: String) async throws -> String?
    ) -> RouteOption {
        .before { request async throws in
            let challenge = "Bearer realm=\(QuotedText.of(realm))"
            guard let token = Self.token(of: request) else { throw Self.unauthorized(challenge: challenge) }
            guard let user = try await check(token) else {
                throw Self.unauthorized(challenge: challenge + ", error=\"invalid_token\"")
            }
            request[AuthenticatedUser.self] = user
            return nil
        }
    }

    private static func credentials(of request: Request) -> PasswordCredentials? {
        let values = request.fields[values: .authorization]
        return values.count == 1 ? PasswordCredentials(basic: values[0]) : nil
    }

    private static func token(of request: Request) -> String? {
        let values = request.fields[values: .authorization]
        guard values.count == 1 else { return nil }
        let words = values[0].split(separator: " ")
        return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }

    private static func unauthorized(_ realm: String) -> Problem {
        unauthorized(challenge: "Basic realm=\(QuotedText.of(realm)), charset=\"UTF-8\"")
    }

    private static func unauthorized(challenge: String) -> Problem {
        Problem(.unauthorized, "Who you are has to be shown.", fields: [.wwwAuthenticate: challenge])
    }
}
