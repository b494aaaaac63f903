// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// Response fields that make browsers protect pages.
///
/// ```swift
/// server.use(.securityHeaders())
/// ```
public struct SecurityHeaders: Sendable {
    /// What pages may load and run (`Content-Security-Policy`); nil leaves it out.
    ///
    /// `{nonce}` in it becomes the request's ``ContentNonce``.
    /// Default: only what is of this server, no script or style within the page, no frame around it.
    public var contentPolicy: String? =
        "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    /// How long browsers come by TLS only (`Strict-Transport-Security`), sent over TLS alone; nil leaves it out.
    ///
    /// Default: nil. It can't be taken back before its time is over.
    public var transportSecurity: Duration?
    /// What other sites learn of where somebody came from (`Referrer-Policy`); nil leaves it out.
    ///
    /// Default: nothing.
    public var referrerPolicy: String? = "no-referrer"
    /// Whether no page of another origin may have this one in a frame (`X-Frame-Options`), for browsers that don't know the
    /// policy.
    ///
    /// Default: true.
    public var deniesFrames = true

    /// Makes the defaults.
    public init() {}
}

/// The fields as they go into responses, worked out once.
struct SecurityFields: Sendable {
    /// The same for every response.
    private let headers: [(name: HTTPField.Name, value: String)]
    /// Sent over TLS alone.
    private let transportSecurity: String?
    /// The policy around the places where the nonce goes; empty for none.
    private let policy: [String]

    init(_ wanted: SecurityHeaders) {
        var headers: [(HTTPField.Name, String)] = [(.xContentTypeOptions, "nosniff")]
        if let policy = wanted.referrerPolicy { headers.append((.referrerPolicy, policy)) }
        if wanted.deniesFrames { headers.append((.xFrameOptions, "DENY")) }
        self.headers = headers
        transportSecurity = wanted.transportSecurity.map { "max-age=\($0.components.seconds)" }
        policy =
            wanted.contentPolicy?.split(separator: "{nonce}", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    /// Whether each request needs a nonce of its own.
    var hasNonce: Bool { policy.count > 1 }

    /// Adds the fields that the response doesn't have.
    func mark(_ response: inout Response, to request: Request) {
        for field in headers { add(field.name, field.value, &response) }
        if let transportSecurity, request.tls != nil { add(.strictTransportSecurity, transportSecurity, &response) }
        guard let first = policy.first else { return }
        let value = hasNonce ? policy.joined(separator: request[ContentNonce.self] ?? "") : first
        add(.contentSecurityPolicy, value, &response)
    }

    private func add(_ name: HTTPField.Name, _ value: String, _ response: inout Response) {
        if response.otherFields[name] == nil { response.otherFields[name] = value }
    }
}

/// The number that lets one script or style of a page run, and no other's: `request[ContentNonce.self]` (CSP, section 2.3.1).
public enum ContentNonce: RequestKey {
    /// In base16: new for every request.
    public typealias Value = String
}

extension RouteOption {
    /// Makes browsers protect pages: what they may load, who may frame them, no guessing of types; see
    /// ``SecurityHeaders``.
    ///
    /// A field that a response has already stays as it is.
    public static func securityHeaders(_ headers: SecurityHeaders = SecurityHeaders()) -> RouteOption {
        let fields = SecurityFields(headers)
        let age = DurationSetting("transportSecurity", optional: headers.transportSecurity, allowsZero: true)
        let marking = RouteOption.all(
            .checking([age]),
            .after { request, response in fields.mark(&response, to: request) }
        )
        guard fields.hasNonce else { return marking }
        let nonce = RouteOption.before { request in
            request[ContentNonce.self] = RandomText.hexadecimal()
            return nil
        }
        return .all(nonce, marking)
    }

    // MARK: Redirecting to https

    /// Redirects what comes in the clear to the same URL by `https:`, with 308, which keeps the method and the body.
    ///
    /// What has come by TLS goes on. ``SecurityHeaders/transportSecurity`` makes browsers use TLS themselves.
    ///
    /// Hazard: the host is the one that the request names; ``WebServer/allowedHosts`` says which there are.
    ///
    /// - Parameters:
    ///   - port: where TLS is served. Default: 443.
    ///   - trustsProxy: whether `X-Forwarded-Proto` says by what a client has come to a proxy in front, which replaces that
    ///     field of the client's own. Default: false.
    /// - Returns: the option.
    public static func redirectToHTTPS(port: Int = 443, trustsProxy: Bool = false) -> RouteOption {
        .before { request in
            if request.tls != nil { return nil }
            if trustsProxy, request.head.value(of: .xForwardedProto)?.lowercased() == "https" { return nil }
            let host = AllowedHosts.name(of: request.head.host)
            guard !host.isEmpty else {
                throw Problem(.badRequest, "The request names no host.")
            }
            let authority = port == 443 ? host : "\(host):\(port)"
            let query = request.head.query.map { "?" + $0 } ?? ""
            let path = request.path.hasPrefix("/") ? request.path : "/"
            return .redirect(to: "https://\(authority)\(path)\(query)", .permanentRedirect)
        }
    }
}
