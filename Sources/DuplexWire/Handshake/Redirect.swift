// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// Where an answer sends a client, and whether it may go there (RFC 9110 section 15.4).
package enum Redirect: Sendable, Hashable {
    /// The answer isn't a redirect.
    case none
    /// There; user information of the location is not to be used.
    case follow(WebSocketURL)
    /// It is one that isn't followed, for this reason.
    case refused(String)

    /// Judges an answer to the handshake's GET.
    ///
    /// 301, 302, 303, 307 and 308 all mean another GET. `http` and `https` are read as `ws` and `wss`. Never from TLS to
    /// a connection without it, and never to or from a Unix socket except to another path on the same.
    ///
    /// - Parameters:
    ///   - url: Where the request went.
    ///   - status: The answer's status.
    ///   - headers: The answer's fields.
    package init(from url: WebSocketURL, status: HTTPResponse.Status, headers: HTTPFields) {
        guard [301, 302, 303, 307, 308].contains(status.code) else {
            self = .none
            return
        }
        let locations = headers[values: .location]
        guard locations.count == 1, let location = locations.first, !location.isEmpty else {
            self = .refused("the redirect has \(locations.count) locations, and not one")
            return
        }
        do throws(WebSocketURLError) {
            let target = try Self.resolve(location, from: url)
            if url.isSecure && !target.isSecure {
                self = .refused("the redirect leads from TLS to a connection without it")
            } else {
                self = .follow(target)
            }
        } catch {
            self = .refused("the redirect to \(Quotation.of(location)) can't be followed: \(error.message)")
        }
    }

    /// RFC 3986 section 5.2.2, for bases whose scheme is known; the fragment means nothing to a server.
    private static func resolve(_ location: String, from url: WebSocketURL) throws(WebSocketURLError) -> WebSocketURL {
        let reference = location.prefix { $0 != "#" }
        let head = reference.prefix { !"/?".contains($0) }
        if head.contains(":") || reference.hasPrefix("//") {
            guard url.unixPath == nil else {
                throw WebSocketURLError(.scheme, "a server on a Unix socket may name another path only")
            }
            if reference.hasPrefix("//") { return try WebSocketURL((url.isSecure ? "wss:" : "ws:") + reference) }
            guard !Grammar.matches(reference.prefix(8), "ws+unix:") else {
                throw WebSocketURLError(.scheme, "a redirect may not lead to a Unix socket")
            }
            return try WebSocketURL(String(reference))
        }
        let path = url.requestTarget.prefix { $0 != "?" }
        if reference.isEmpty { return try url.with(requestTarget: url.requestTarget) }
        if reference.hasPrefix("?") { return try url.with(requestTarget: path + reference) }
        if reference.hasPrefix("/") { return try url.with(requestTarget: withoutDots(reference)) }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return try url.with(requestTarget: withoutDots(folder + reference))
    }

    /// RFC 3986 section 5.2.4, of the path only.
    private static func withoutDots(_ target: Substring) -> String {
        let path = target.prefix { $0 != "?" }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/") + target.dropFirst(path.count)
    }
}

extension WebSocketURL {
    /// Whether both lead to the same server in the same way: what one may see, so may the other (RFC 6454 section 5).
    package func hasSameOrigin(as other: WebSocketURL) -> Bool {
        isSecure == other.isSecure && host == other.host && zone == other.zone && port == other.port
            && unixPath == other.unixPath
    }
}
