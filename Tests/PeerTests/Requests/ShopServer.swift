// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestTimes
import DuplexWire
import HTTPTypes
import Logging
import Synchronization

/// A server with logins, which pages of other sites try to use; see web_safety.py.
///
/// It is `shop.test`, and it is every other name that ends in `.test` as well: the pages of those are the other sites.
struct ShopServer {
    /// What has been asked for, and with which cookies.
    private final class Seen: Sendable {
        let lines = Mutex<[String]>([])
    }

    private let seen = Seen()
    private(set) var server: WebServer

    /// Makes it.
    ///
    /// - Parameters:
    ///   - plain: where it listens in the clear.
    ///   - secured: where it listens with TLS.
    /// - Throws: what makes a certificate impossible.
    init(plain: SocketAddress, secured: SocketAddress) throws {
        server = WebServer(host: .address(plain.host), port: plain.port)
        let identity = try TLSIdentity.selfSigned(for: ["*.test", "shop.test", "*.shop.test"])
        let address = ListenAddress.tcp(host: .address(secured.host), port: secured.port)
        server.listen(on: Listener(address, tls: TLSServerOptions.patient(identity)))
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.allowedHosts = ["*.test"]
        server.use(
            .before { [seen] request in
                if !["/page", "/seen", "/favicon.ico"].contains(request.path) {
                    seen.lines.withLock { $0.append("\(request.method) \(request.path) \(Self.cookies(of: request))") }
                }
                return nil
            }
        )
        let friends = ["https://partner.test:\(secured.port)", "http://partner.test:\(plain.port)"]
        addPages()
        try addCookies()
        addShared(friends)
        addOrders(friends)
        addPolicies()
    }

    /// The names of the cookies that came, in order.
    private static func cookies(of request: Request) -> String {
        request.cookies.map(\.name).sorted().joined(separator: ",")
    }

    private mutating func addPages() {
        server.get("/page") { _ in Response.html("<!doctype html><title>page</title><link rel=icon href=data:,>") }
        server.get("/referrer") { request in "from \(request.headers[.referer] ?? "nowhere")" }
        server.get("/seen") { [seen] _ in
            seen.lines.withLock { lines in
                defer { lines = [] }
                return lines.joined(separator: "\n")
            }
        }
    }

    private mutating func addCookies() throws {
        let cookies = [
            try SetCookie("lax", "1"), try SetCookie("strict", "1", sameSite: .strict),
            try SetCookie("none", "1", sameSite: .none), try SetCookie("open", "1", isHTTPOnly: false),
            try SetCookie("__Host-session", "1"), try SetCookie("day", "1", maximumAge: .seconds(86_400)),
        ]
        server.get("/login") { _ in
            var response = Response.text("in")
            for cookie in cookies { response.setCookie(cookie) }
            return response
        }
        let gone = try SetCookie("day", "", maximumAge: .zero)
        server.get("/logout") { _ in
            var response = Response.text("out")
            response.setCookie(gone)
            return response
        }
        server.get("/cookies") { request in Self.cookies(of: request) }
        server.post("/cookies") { request in Self.cookies(of: request) }
    }

    /// What pages of some origins may ask for, with the cookies of whoever looks at them.
    private mutating func addShared(_ friends: [String]) {
        func policy(_ maximumAge: Duration) -> CORSPolicy {
            CORSPolicy(
                .matching { friends.contains($0) || $0.hasPrefix("https://app.shop.test:") },
                methods: [.put],
                exposed: [.eTag],
                allowsCredentials: true,
                maximumAge: maximumAge
            )
        }
        server.group("/shared", .cors(policy(.seconds(600)))) { shared in
            shared.get("/*") { request in
                var response = Response.text(Self.cookies(of: request))
                response.headers[.eTag] = "\"v1\""
                response.headers[.server] = "x"
                return response
            }
            shared.on(.put, "/*") { request in Self.cookies(of: request) }
        }
        server.on(.put, "/forgotten", .cors(policy(.zero))) { request in Self.cookies(of: request) }
        server.get("/public", .cors(CORSPolicy(.any, allowsCredentials: true))) { _ in "for everybody" }
        let guarding = RouteOption.basicAuth(realm: "shop", accounts: ["mia": "secret"])
        server.get("/guarded", .cors(policy(.seconds(600))), guarding) { request in
            request.user ?? "nobody"
        }
        server.events("/feed", .cors(policy(.seconds(600)))) { stream in
            try await stream.send(Self.cookies(of: stream.request))
        }
    }

    /// What only the shop's own pages may change, and its partner's.
    private mutating func addOrders(_ friends: [String]) {
        server.post("/orders", .sameSite(or: friends[0], friends[1])) { request in
            "ordered with \(Self.cookies(of: request))"
        }
    }

    private mutating func addPolicies() {
        var headers = SecurityHeaders()
        headers.contentPolicy = "default-src 'self'; script-src 'nonce-{nonce}'; frame-ancestors 'none'"
        headers.transportSecurity = .seconds(60)
        server.group("/policy", .securityHeaders(headers)) { policy in
            policy.get("/page") { request in Response.html(Self.page(nonce: request[ContentNonce.self] ?? "")) }
            policy.get("/script") { _ in
                Response(type: "text/javascript", body: "ran.push('script of its own file')")
            }
            policy.get("/text") { _ in "ran.push('text')" }
        }
        // The same with no policy, to see that it is the policy that makes the difference.
        server.group("/free") { free in
            free.get("/page") { _ in Response.html(Self.page(nonce: "")) }
            free.get("/script") { _ in
                Response(type: "text/javascript", body: "ran.push('script of its own file')")
            }
            free.get("/text") { _ in "ran.push('text')" }
        }
    }

    /// Notes in `ran` which of its scripts have run.
    private static func page(nonce: String) -> String {
        """
        <!doctype html><title>page</title><link rel=icon href=data:,>
        <script nonce="\(nonce)">ran = ['nonce']; parent.postMessage(location.pathname, '*')</script>
        <script>ran.push('no nonce')</script>
        <script nonce="0123456789abcdef0123456789abcdef">ran.push('a guessed nonce')</script>
        <script nonce="\(nonce)" src="script"></script>
        <script nonce="\(nonce)" src="text"></script>
        <script src="script?again"></script>
        <button id="button" onclick="ran.push('attribute')">Press</button>
        """
    }
}
