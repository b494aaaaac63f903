// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes

/// Stands in front of all that the inspector answers.
struct InspectorGuard: Sendable {
    let access: InspectorAccess
    let token: String
    /// What a browser has in the token's place.
    private let session = RandomText.hexadecimal()
    /// Of this inspector alone: servers on other ports of a host get each other's cookies.
    private let cookieName = "duplex-inspector-\(RandomText.hexadecimal().prefix(8))"
    /// Keeps both from being shown by any inspector.
    private let secret: InspectorSecret
    private let hosts: AllowedHosts
    private let isLocal: Bool

    init(_ access: InspectorAccess, hosts names: [String], answersOtherMachines: Bool) {
        self.access = access
        if case .ownToken(let token) = access {
            precondition(token.utf8.count >= 16, "A token of fewer than 16 bytes is no secret.")
            self.token = token
        } else {
            token = RandomText.hexadecimal()
        }
        secret = InspectorSecret([token, session])
        hosts = AllowedHosts(answersOtherMachines && names.isEmpty ? nil : names, isLocal: !answersOtherMachines)
        isLocal = !answersOtherMachines
    }

    /// Whatever comes of a request: nobody logs its query, and no inspector records it.
    ///
    /// It stands in front of all else, of the app's own as well, which may answer a request that has the token.
    static let marking = RouteOption.before { request in
        request[SecretRequest.self] = true
        return nil
    }

    /// What all routes of the inspector go through.
    var option: RouteOption {
        // Whatever pages the app lets open WebSockets, of those of the inspector its own page is the only one.
        .all(
            .sameSite(),
            .origins(.sameHost),
            .before { request in try check(request) },
            .after { _, response in Self.harden(&response) }
        )
    }

    /// Lets a request through (`nil`), or answers it.
    func check(_ request: Request) throws -> Response? {
        try checkReach(of: request)
        guard hosts.contain(request.head.host) else {
            throw Problem(.misdirectedRequest, "The inspector doesn't answer for this host.")
        }
        if access == .users {
            if request.user != nil { return nil }
        } else {
            // First, also for a browser that has the cookie: the token is not to stay in its history.
            if let response = exchange(request) { return response }
            if isAdmitted(request) {
                if Self.isOfAnotherPage(request) {
                    throw Problem(.forbidden, "A page of elsewhere has made this request.")
                }
                return nil
            }
        }
        throw Problem(
            .unauthorized,
            "The inspector needs the token: open the address that the app has told.",
            headers: [.wwwAuthenticate: #"Bearer realm="inspector""#]
        )
    }

    /// Throws for a client on another machine, as far as can be seen: a proxy on this one speaks for others.
    private func checkReach(of request: Request) throws(Problem) {
        guard isLocal else { return }
        if let address = request.remoteAddress, !address.isLoopback, address.path == nil {
            throw Problem(.forbidden, "The inspector answers this machine only.")
        }
        if Self.proxyFields.contains(where: { request.headers[$0] != nil }) {
            throw Problem(.forbidden, "A proxy has sent this: the app has to let the inspector answer other machines.")
        }
    }

    private static let proxyFields = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"].compactMap {
        HTTPField.Name($0)
    }

    /// Whether a page of elsewhere has made the request, such as one on another port of this host, which gets the cookie sent.
    private static func isOfAnotherPage(_ request: Request) -> Bool {
        guard let site = request.headers[.secFetchSite] else { return false }
        let isPage = PercentDecoding.rawSegments(ofPath: request.path).last == ""
        return !isPage && site != "same-origin" && site != "none"
    }

    private func isAdmitted(_ request: Request) -> Bool {
        if let value = request.cookies[cookieName], Self.isSame(value, session) { return true }
        guard let value = request.headers[.authorization], value.lowercased().hasPrefix("bearer ") else { return false }
        return Self.isSame(String(value.dropFirst(7)), token)
    }

    /// Gives a browser the cookie for the token, and has it go on to the page without it.
    ///
    /// The page itself is asked for by a page of this site then: a cookie that is `SameSite=Strict` isn't sent where a link in
    /// a mail leads. It takes this page's place in the history.
    private func exchange(_ request: Request) -> Response? {
        guard request.method == .get, let value = QueryItems(readable: request.head.query)["token"],
            Self.isSame(value, token)
        else { return nil }
        let name = PercentDecoding.rawSegments(ofPath: request.path).last ?? ""
        // Cookies without a path are for the folder that they come from, as the browser sees it: there, and not before.
        guard name.isEmpty else { return .redirect(to: "./\(name)/?token=\(PercentEncoding.segment(token))") }
        let page = #"<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=./">"#
        var response = Response.html(page + #"<title>Inspector</title><a href="./">Go on</a>"#)
        // No path: a proxy may show the page under another one.
        let secure = Self.isSecured(request) ? "; Secure" : ""
        response.headers[.setCookie] = "\(cookieName)=\(session); HttpOnly; SameSite=Strict\(secure)"
        return response
    }

    /// Whether the browser has come by TLS, as far as can be seen: a proxy in front says so.
    ///
    /// Whoever says it falsely has a cookie that its own browser doesn't send.
    private static func isSecured(_ request: Request) -> Bool {
        if request.tls != nil { return true }
        return proxyScheme.flatMap { request.headers[$0] }?.lowercased() == "https"
    }

    private static let proxyScheme = HTTPField.Name("X-Forwarded-Proto")

    /// Nothing is cached, framed or sniffed, and no referrer is sent to other sites.
    private static func harden(_ response: inout Response) {
        func add(_ name: HTTPField.Name, _ value: String) {
            if response.headers[name] == nil { response.headers[name] = value }
        }
        add(.cacheControl, "no-store")
        add(.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
        add(.xFrameOptions, "DENY")
        add(.xContentTypeOptions, "nosniff")
        add(.referrerPolicy, "no-referrer")
        add(.crossOriginResourcePolicy, "same-origin")
    }

    /// Takes the same time wherever they differ.
    static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
