// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// How a client shows a server who it is.
///
/// What is chosen goes to the server of the URL alone, and not to another one that it redirects to. A field Authorization
/// in ``WebSocketOptions/headers`` takes its place.
public struct WebSocketAuthentication: Sendable {
    enum Kind: Sendable {
        case none
        case password(PasswordCredentials, Authenticator.Schemes)
        case bearer(@Sendable () async throws -> String)
    }

    let kind: Kind

    /// Nothing, except a name and a password in the URL, which are used by Basic.
    public static let none = WebSocketAuthentication(kind: .none)

    /// By the scheme Basic, with the first request (RFC 7617).
    ///
    /// Hazard: without TLS everybody on the way can read the password.
    public static func basic(_ user: String, _ password: String) -> WebSocketAuthentication {
        make(user, password, .basic)
    }

    /// By the scheme Digest, once the server has asked for it (RFC 7616), which takes a second connection.
    ///
    /// MD5, SHA-256 and SHA-512/256, the strongest that the server offers. One that asks for Basic instead doesn't get the
    /// password, and has refused the handshake.
    public static func digest(_ user: String, _ password: String) -> WebSocketAuthentication {
        make(user, password, .digest)
    }

    /// By Digest or else by Basic, whichever the server asks for, once it has.
    public static func strongest(_ user: String, _ password: String) -> WebSocketAuthentication {
        make(user, password, .strongest)
    }

    /// By a token (RFC 6750), which is asked for again for every request: tokens expire.
    ///
    /// - Parameter token: gives the token. It counts towards ``WebSocketOptions/connectTimeout`` and is cancelled at its end;
    ///   what it throws makes the attempt fail as the cause of the error.
    /// - Returns: the choice.
    public static func bearer(_ token: @escaping @Sendable () async throws -> String) -> WebSocketAuthentication {
        WebSocketAuthentication(kind: .bearer(token))
    }

    private static func make(
        _ user: String,
        _ password: String,
        _ schemes: Authenticator.Schemes
    ) -> WebSocketAuthentication {
        WebSocketAuthentication(kind: .password(PasswordCredentials(user: user, password: password), schemes))
    }
}
