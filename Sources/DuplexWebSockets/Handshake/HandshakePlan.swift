// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// What the requests of one attempt are made of: it changes from a redirect or a challenge to the next.
struct HandshakePlan: Sendable {
    /// Where the next request goes.
    private(set) var target: WebSocketURL
    /// How many requests were made.
    private(set) var requests = 0

    private let options: WebSocketOptions
    private var authenticator: Authenticator?
    private var redirects = 0
    /// Whether a redirect led to another server, which gets none of the caller's fields; not even if it leads back.
    private var hasLeft = false

    /// The most requests that challenges can lead to, redirects not counted.
    private static let challengeBound = 4
    private var challenges = 0

    init(_ target: WebSocketURL, _ options: WebSocketOptions) {
        self.target = target
        self.options = options
        switch options.authentication.kind {
        case .password(let credentials, let schemes):
            authenticator = Self.authenticator(credentials, schemes)
        case .none:
            authenticator = target.userInfo.flatMap(PasswordCredentials.init(userInfo:)).map {
                Self.authenticator($0, .basic)
            }
        case .bearer: break
        }
    }

    private static func authenticator(
        _ credentials: PasswordCredentials,
        _ schemes: Authenticator.Schemes
    ) -> Authenticator {
        Authenticator(credentials, schemes: schemes, digest: HTTPDigest.digest, nonce: HTTPDigest.nonce)
    }

    /// The bearer token's source, if the next request has one.
    var token: (@Sendable () async throws -> String)? {
        guard !hasLeft, !options.headers.contains(.authorization), case .bearer(let token) = options.authentication.kind
        else { return nil }
        return token
    }

    /// The fields of the next request: the caller's, and of ours those that they don't replace.
    ///
    /// The caller's are for the server of the URL alone: any of them may hold a secret.
    mutating func fields(token: String?) -> HTTPFields {
        requests += 1
        var fields = hasLeft ? [:] : options.headers
        func add(_ name: HTTPField.Name, _ value: String?) {
            guard let value, !fields.contains(name) else { return }
            fields[name] = value
        }
        add(.userAgent, options.userAgent)
        add(.origin, options.origin?.value(for: target))
        add(.cookie, options.cookies?.value(for: target))
        if !hasLeft && !fields.contains(.authorization) {
            add(.authorization, token.map { "Bearer " + $0 } ?? authorization())
        }
        return fields
    }

    private mutating func authorization() -> String? {
        authenticator?.value(method: "GET", target: target.requestTarget)
    }

    /// Takes note of a refusal.
    ///
    /// - Returns: whether another request is to be made.
    /// - Throws: the same refusal with a hint, when it is a redirect that may not be followed.
    mutating func follow(_ refusal: HandshakeError) throws(HandshakeError) -> Bool {
        guard refusal.code == .refused, let status = refusal.status, let fields = refusal.fields else { return false }
        options.cookies?.take(fields[values: .setCookie], from: target)
        if status.code == 401 { return challenged(fields) }
        if options.redirects == 0 { return false }
        switch Redirect(from: target, status: status, fields: fields) {
        case .none: return false
        case .refused(let reason): throw refusal.with(hint: reason)
        case .follow(let next):
            guard redirects < options.redirects else {
                throw refusal.with(hint: "\(redirects) redirects were followed, and no more may be")
            }
            redirects += 1
            if !next.hasSameOrigin(as: target) { hasLeft = true }
            target = next
            return true
        }
    }

    private mutating func challenged(_ fields: HTTPFields) -> Bool {
        guard !hasLeft, challenges < Self.challengeBound, !options.headers.contains(.authorization) else {
            return false
        }
        challenges += 1
        let found = AuthenticationChallenge.parse(fields[values: .wwwAuthenticate])
        return authenticator?.challenged(found) == true
    }
}
