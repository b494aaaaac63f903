// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSharing

/// The page that `duplex serve` answers with at `/`: an echo and a chat room, over one WebSocket each,
/// server-sent events, an upload, a form, and the last requests.
enum DemoPage {
    /// The path of the WebSocket that answers each message with the same message.
    static let echoPath = "/echo"

    /// The path of the WebSocket of the chat room; see ``ChatContract``.
    static let chatPath = "/chat"

    /// The path of the events; a count.
    static let eventsPath = "/events"

    /// The path that counts the bytes of what is sent there.
    static let uploadPath = "/demo/upload"

    /// The path that a form is sent to.
    static let formPath = "/demo/form"

    /// The path of the last requests, as events.
    static let logPath = "/demo/log"

    /// Everything that is served over plain HTTP.
    static let files = PageFile.all(in: "demo")

    /// The path of a file, if that of the page is `page`.
    static func path(of file: PageFile, page: String = "/") -> String {
        file.name == "index.html" ? page : "/demo/\(file.name)"
    }

    /// The fields that go with every resource, in the order in which to send them.
    ///
    /// The two `Cross-Origin` fields isolate the page, for which browsers reward it with a clock of 5 µs instead of
    /// 100 µs: a round trip on one machine is shorter than the latter.
    /// - Parameter host: the request's authority, which the caller has checked to be `host` or `host:port`.
    /// - Returns: names and values, without the `Content-Type` and `Content-Length` of the resource.
    static func headers(host: String) -> [(name: String, value: String)] {
        [
            ("Content-Security-Policy", contentSecurityPolicy(host: host)),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Embedder-Policy", "require-corp"),
            ("Cache-Control", "no-cache"),
        ]
    }

    /// The value of `Content-Security-Policy`: this origin's own files, forms and WebSockets, and nothing else.
    ///
    /// `'self'` covers `ws:` and `wss:` in today's browsers only (CSP Level 3, section 6.7.2.8), so the host's
    /// WebSockets are named for older ones. An IPv6 literal can't be: the grammar of a host source has no brackets, and
    /// browsers would complain of it.
    /// - Parameter host: the request's authority, which the caller has checked to be `host` or `host:port`; anything
    ///   else could add directives.
    /// - Returns: the directives, separated by semicolons.
    static func contentSecurityPolicy(host: String) -> String {
        let sockets = host.hasPrefix("[") ? "" : " ws://\(host) wss://\(host)"
        return [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
            "connect-src 'self'\(sockets)", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }
}
