// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

/// The page that `duplex serve` answers with at `/`: an echo and a chat room, over one WebSocket each,
/// server-sent events, an upload, a form, and the last requests.
///
/// Markup, style, script and icon are separate resources, so that the page runs under a policy that allows no inline
/// code at all; they are string constants, so that the command stays a single file.
enum DemoPage {
    /// One file of the page, as it goes out.
    struct Resource: Sendable, Equatable {
        /// The path it is served at, with its leading slash.
        let path: String

        /// The value of its `Content-Type` field.
        let contentType: MediaType

        /// All of its text, to be sent as UTF-8.
        let body: String

        /// Tells this text from the one that another version of the page has.
        let entityTag: EntityTag?

        init(path: String, contentType: MediaType, body: String) {
            self.path = path
            self.contentType = contentType
            self.body = body
            entityTag = EntityTag(Base16.encode(SHA1.digest(Array(body.utf8))))
        }
    }

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

    /// Everything that is served over plain HTTP, the page itself first.
    static let resources = [
        Resource(path: "/", contentType: .html, body: html),
        Resource(path: "/demo/duplex.css", contentType: .css, body: style),
        Resource(path: "/demo/duplex.js", contentType: .javaScript, body: script),
        Resource(path: "/demo/icon.svg", contentType: .svg, body: icon),
    ]

    /// The resource at a path without its query, or nil when the page has none there.
    static func resource(at path: String) -> Resource? {
        resources.first { $0.path == path }
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
