// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
public import HTTPTypes

/// Which pages of other origins may make requests and read the answers: cross-origin resource sharing (the Fetch standard of
/// the WHATWG, section 3.2).
///
/// ```swift
/// server.use(.cors(CORSPolicy(.origins("https://app.example"), allowsCredentials: true)))
/// ```
public struct CORSPolicy: Sendable {
    /// Whose pages.
    @nonexhaustive
    public enum Origins: Sendable {
        /// Everybody's.
        ///
        /// What a page reads is then what anybody may read: such a policy has no credentials.
        case any
        /// Those of the origins that the app agrees to.
        case matching(@Sendable (String) -> Bool)

        /// Those of these origins, such as `https://app.example`, as browsers write them.
        public static func origins(_ origins: String...) -> Origins {
            let all = Set(origins)
            return .matching { all.contains($0) }
        }

        var isAny: Bool { if case .any = self { true } else { false } }

        func allow(_ origin: String) -> Bool {
            switch self {
            case .any: true
            case .matching(let allow): allow(origin)
            }
        }
    }

    /// PUT, PATCH, DELETE, and the methods of WebDAV.
    public static let usualMethods: [HTTPRequest.Method] = [
        .put, .patch, .delete, .propfind, .proppatch, .mkcol, .copy, .move, .lock, .unlock,
    ]

    /// `Authorization`, `Content-Type`, those of ranges and conditions, and those that clients of WebDAV and of resumable
    /// uploads send.
    public static let usualHeaders: [HTTPField.Name] =
        [
            .authorization, .contentType, .contentEncoding, .cacheControl, .range, .ifRange, .ifMatch, .ifNoneMatch,
            .ifModifiedSince, .ifUnmodifiedSince, .depth, .destination, .davIf, .lockToken, .overwrite, .timeout,
            .xExpectedEntityLength, .xRequestID, .xRequestedWith,
        ] + HTTPField.Name.uploadRequestFields

    /// `ETag`, `Location`, `Retry-After` and others about files, and those that clients of WebDAV and of resumable
    /// uploads read.
    public static let usualExposed: [HTTPField.Name] =
        [
            .eTag, .location, .retryAfter, .allow, .acceptRanges, .contentRange, .contentDisposition, .contentEncoding,
            .wwwAuthenticate, .dav, .lockToken, .msAuthorVia, .xRequestID,
        ] + HTTPField.Name.uploadResponseFields

    let origins: Origins
    let methods: [HTTPRequest.Method]
    let headers: [HTTPField.Name]
    /// The value of the field that names them; nil for none.
    let exposed: String?
    let allowsCredentials: Bool
    let maximumAge: Duration

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - origins: whose pages may.
    ///   - methods: which methods they may use beside GET, HEAD and POST. Default: ``usualMethods``, so that shared
    ///     folders work.
    ///   - headers: which fields they may set beside those that every page may. Default: ``usualHeaders``.
    ///   - exposed: which fields of answers they may read beside those that every page may. Default: ``usualExposed``.
    ///   - allowsCredentials: whether cookies and logins go with their requests. Default: false. Never with
    ///     ``Origins/any``: any page could act as whoever looks at it.
    ///   - maximumAge: how long a browser need not ask again; with zero it asks each time. Default: 10 minutes.
    public init(
        _ origins: Origins,
        methods: [HTTPRequest.Method] = CORSPolicy.usualMethods,
        headers: [HTTPField.Name] = CORSPolicy.usualHeaders,
        exposed: [HTTPField.Name] = CORSPolicy.usualExposed,
        allowsCredentials: Bool = false,
        maximumAge: Duration = .seconds(600)
    ) {
        self.origins = origins
        self.methods = methods
        self.headers = headers
        self.exposed = exposed.isEmpty ? nil : exposed.map(\.rawName).joined(separator: ", ")
        self.allowsCredentials = allowsCredentials && !origins.isAny
        self.maximumAge = maximumAge
    }

    /// What answers a browser that asks before the request itself, by OPTIONS; nil for any other request.
    func preflight(_ request: Request) -> Response? {
        guard request.method == .options, let origin = request.head.value(of: .origin),
            request.head.value(of: .accessControlRequestMethod) != nil
        else { return nil }
        var response = Response(.noContent)
        response.otherFields[.vary] = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
        guard origins.allow(origin) else { return response }
        allow(origin, in: &response)
        response.otherFields[.accessControlAllowMethods] =
            (["GET", "HEAD", "POST"] + methods.map(\.rawValue)).joined(separator: ", ")
        response.otherFields[.accessControlAllowHeaders] = headers.map(\.rawName).joined(separator: ", ")
        response.otherFields[.accessControlMaxAge] = "\(maximumAge.components.seconds)"
        return response
    }

    /// Says in the answer to a request itself who may read it.
    func mark(_ response: inout Response, to request: Request) {
        if !origins.isAny { response.vary(by: .origin) }
        guard let origin = request.head.value(of: .origin), origins.allow(origin),
            response.otherFields[.accessControlAllowOrigin] == nil
        else { return }
        allow(origin, in: &response)
        if let exposed { response.otherFields[.accessControlExposeHeaders] = exposed }
    }

    private func allow(_ origin: String, in response: inout Response) {
        response.otherFields[.accessControlAllowOrigin] = origins.isAny ? "*" : origin
        if allowsCredentials { response.otherFields[.accessControlAllowCredentials] = "true" }
    }
}

extension RouteOption {
    /// Lets pages of other origins make requests and read the answers; see ``CORSPolicy``.
    ///
    /// It answers the browser's preflight request, and adds its fields to responses. It runs before authentication,
    /// since a preflight carries no credentials. It doesn't stop anybody from making a request: for that see
    /// ``sameSite(or:)``.
    public static func cors(_ policy: CORSPolicy) -> RouteOption {
        .all(
            .checking([DurationSetting("maximumAge", policy.maximumAge, allowsZero: true)]),
            .before { request in policy.preflight(request) },
            .after { request, response in policy.mark(&response, to: request) }
        )
    }

    // MARK: Requests of other sites

    /// Refuses requests of other sites' pages that would change something (cross-site request forgery), with 403.
    ///
    /// Browsers say where a request comes from by `Sec-Fetch-Site`, and older ones by `Origin`. GET, HEAD and OPTIONS go
    /// through, since they change nothing; so does what has neither field, which no browser sent. WebSockets have
    /// ``origins(_:)``.
    ///
    /// - Parameter origins: whose pages may make such requests, too, such as `https://app.example`: those that ``cors(_:)``
    ///   lets in. Default: nobody's.
    /// - Returns: the option.
    public static func sameSite(or origins: String...) -> RouteOption {
        let trusted = Set(origins)
        return .before { request in
            if let origin = request.head.value(of: .origin), trusted.contains(origin) { return nil }
            guard CrossSite.isForged(request) else { return nil }
            throw Problem(.forbidden, "A page of another site has made this request.")
        }
    }
}

enum CrossSite {
    static func isForged(_ request: Request) -> Bool {
        switch request.method {
        case .get, .head, .options: return false
        default: break
        }
        if let site = request.head.value(of: .secFetchSite) { return site != "same-origin" && site != "none" }
        guard let origin = request.head.value(of: .origin) else { return false }
        let host = origin.split(separator: "://", maxSplits: 1).last.map(String.init) ?? ""
        return host.lowercased() != request.head.host.lowercased()
    }
}
