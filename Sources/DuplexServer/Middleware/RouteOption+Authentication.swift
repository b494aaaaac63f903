// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
import HTTPTypes

// Who makes a request, before its body is asked for: by Basic (RFC 7617), by a token (RFC 6750), or by the certificate that
// the client has shown (RFC 8446 section 4.4.2).

extension RouteOption {
    /// Requires the password of an account, by Basic; others get 401.
    ///
    /// The name is `request.user` then. It guards WebSockets as well. A user who isn't known costs
    /// what one costs who is, and passwords are compared in constant time.
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
        return .authentication(
            .before { request in
                let credentials = try Self.credentials(of: request, realm)
                let secret = secrets[credentials.user]
                let isRight = ConstantTime.areSame(secret ?? decoy, Array(credentials.password.utf8))
                guard isRight && secret != nil else { throw Self.unauthorized(realm) }
                request.user = credentials.user
                return nil
            }
        )
    }

    /// Requires a name and password that the app knows, by Basic; others get 401.
    ///
    /// The name is `request.user` then. It guards WebSockets as well.
    ///
    /// - Parameters:
    ///   - realm: what the password is for, as browsers show it.
    ///   - check: whether the credentials are right. It may take its time; an error that it throws is answered like one
    ///     of a handler.
    /// - Returns: the option.
    public static func basicAuth(
        realm: String,
        _ check: @escaping @Sendable (PasswordCredentials) async throws -> Bool
    ) -> RouteOption {
        .authentication(
            .beforeWaiting { request in
                let credentials = try Self.credentials(of: request, realm)
                guard try await check(credentials) else { throw Self.unauthorized(realm) }
                request.user = credentials.user
                return nil
            }
        )
    }

    /// Requires a user and password of a file, by Basic; others get 401.
    ///
    /// The name is `request.user` then. It guards WebSockets as well. Passwords are checked off the
    /// loops, and that takes as long for a user who isn't in the file.
    ///
    /// Hazard: the password goes over the connection as it is. Use it over TLS, or on this machine.
    ///
    /// - Parameters:
    ///   - realm: what the password is for, as browsers show it.
    ///   - file: the users and the hashes of their passwords.
    /// - Returns: the option.
    public static func basicAuth(realm: String, file: PasswordFile) -> RouteOption {
        basicAuth(realm: realm) { credentials in try await file.contains(credentials) }
    }

    /// Requires a token that the app knows (RFC 6750); others get 401.
    ///
    /// - Parameters:
    ///   - realm: what the token is for.
    ///   - check: returns the user of a token, for `request.user`, or `nil`.
    /// - Returns: the option.
    public static func bearerAuth(
        realm: String,
        _ check: @escaping @Sendable (_ token: String) async throws -> String?
    ) -> RouteOption {
        .authentication(
            .beforeWaiting { request in
                let challenge = "Bearer realm=\(QuotedText.of(realm))"
                guard let token = Self.token(of: request) else { throw Challenges.unauthorized([challenge]) }
                guard let user = try await check(token) else {
                    throw Challenges.unauthorized([challenge + ", error=\"invalid_token\""])
                }
                request.user = user
                return nil
            }
        )
    }

    /// Middleware that finds out who makes a request.
    static func authentication(_ middleware: RouteMiddleware) -> RouteOption {
        RouteOption { $0.addAuthentication(middleware) }
    }

    private static func credentials(of request: Request, _ realm: String) throws -> PasswordCredentials {
        let values = request.headers[values: .authorization]
        guard values.count == 1, let credentials = PasswordCredentials(basic: values[0]) else {
            throw unauthorized(realm)
        }
        return credentials
    }

    private static func token(of request: Request) -> String? {
        let values = request.headers[values: .authorization]
        guard values.count == 1 else { return nil }
        let words = values[0].split(separator: " ")
        return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }

    private static func unauthorized(_ realm: String) -> Problem {
        Challenges.unauthorized([Challenges.basic(realm: realm)])
    }

    // MARK: By a certificate

    /// Requires a certificate that the app knows; others get 403.
    ///
    /// ```swift
    /// server.tls?.clientCertificates = .requested(.roots(ours))
    /// server.group("/machines", .clientCertificate { certificate in machines[certificate.fingerprint] }) { … }
    /// ```
    ///
    /// The name is `request.user` then. It guards WebSockets as well. That a client which has shown none is
    /// refused by 403 and not by 401 is RFC 9110 section 15.5.2: no challenge of HTTP's could be answered by a certificate.
    ///
    /// Hazard: TLS has checked that the certificate is trusted by `TLSServerOptions.clientCertificates`, and that the
    /// client has its key. The app has to check the name in the certificate: an authority also signs certificates of
    /// others.
    ///
    /// - Parameter name: the name of whose the certificate is, for `request.user`, or `nil`. Called with the
    ///   client's own certificate for each request.
    /// - Returns: the option.
    public static func clientCertificate(
        _ name: @escaping @Sendable (TLSCertificate) async throws -> String?
    ) -> RouteOption {
        .authentication(
            .beforeWaiting { request in
                guard let certificate = request.tls?.peerCertificates.first else {
                    throw Problem(.forbidden, "The client has to show a certificate here.")
                }
                guard let user = try await name(certificate) else {
                    throw Problem(.forbidden, "The client's certificate doesn't let in here.")
                }
                request.user = user
                return nil
            }
        )
    }
}
