// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// Where something is to be copied or moved: the fields `Destination` and `Overwrite` (RFC 4918 sections 10.3, 10.6).
enum WebDAVDestination: Sendable, Hashable {
    /// A path of this server, as it was sent.
    case path(String)
    /// Somewhere on another server: 502.
    case elsewhere

    /// Reads the field.
    ///
    /// Host and port, and not the scheme, decide whether it is this server: behind a proxy that speaks TLS for it, the
    /// server doesn't know the scheme that its clients use.
    ///
    /// - Parameters:
    ///   - headers: of the request.
    ///   - host: the host and port that the request is for.
    ///   - aliases: others by which clients know the server, such as those of `ForwardedHosts`; one without a port
    ///     stands for any port.
    /// - Throws: ``WebDAVFault`` without the field, and for what is neither a URL nor a path.
    init(_ headers: HTTPFields, host: String, aliases: [String] = []) throws(WebDAVFault) {
        let values = headers[values: .destination]
        guard values.count == 1, let target = Self.target(values[0]) else {
            throw WebDAVFault("Destination says where to: a URL, or a path of this server.")
        }
        if let authority = target.authority, !Self.isOwn(authority, host, aliases, values[0]) {
            self = .elsewhere
        } else {
            self = .path(target.path)
        }
    }

    /// Reads a URL of HTTP's, or a path (RFC 4918 section 8.3: Simple-ref).
    private static func target(_ text: String) -> RequestTarget? {
        guard let target = try? RequestTarget(String(Grammar.trimmed(Substring(text))), method: .get) else {
            return nil
        }
        return target.path == "*" ? nil : target
    }

    private static func isOwn(_ authority: Authority, _ host: String, _ aliases: [String], _ url: String) -> Bool {
        isSame(authority, host, url)
            || aliases.contains { alias in
                guard let own = Authority(alias) else { return false }
                return own.port == nil ? own.host == authority.host : isSame(authority, alias, url)
            }
    }

    private static func isSame(_ authority: Authority, _ host: String, _ url: String) -> Bool {
        guard let own = Authority(host), own.host == authority.host else { return false }
        let usual = Grammar.matches(Grammar.trimmed(Substring(url)).prefix(6), "https:") ? 443 : 80
        return own.port == authority.port || (own.port ?? usual) == (authority.port ?? usual)
    }

    /// The path of a resource that a tag of the field `If` names; nil for one of another server.
    static func path(ofTag tag: String, host: String, _ aliases: [String]) -> String? {
        guard let target = target(tag) else { return nil }
        if let authority = target.authority, !isOwn(authority, host, aliases, tag) { return nil }
        return target.path
    }

    /// Whether what is at the destination may go; true without the field.
    ///
    /// - Throws: ``WebDAVFault`` for anything else than T and F.
    static func overwrites(_ headers: HTTPFields) throws(WebDAVFault) -> Bool {
        let values = headers[values: .overwrite]
        if values.isEmpty { return true }
        switch values.count == 1 ? Grammar.lowercased(Grammar.trimmed(Substring(values[0]))) : "" {
        case "t": return true
        case "f": return false
        default: throw WebDAVFault("Overwrite is T or F.")
        }
    }
}

/// How far down a request reaches: the field `Depth` (RFC 4918 section 10.2).
enum WebDAVDepth: Sendable, Hashable {
    /// The resource alone.
    case zero
    /// With what is in it.
    case one
    /// With all below it.
    case infinity

    /// Reads the field.
    ///
    /// - Parameters:
    ///   - headers: of the request.
    ///   - absent: what holds without the field.
    /// - Throws: ``WebDAVFault`` for anything else than 0, 1 and infinity.
    init(_ headers: HTTPFields, absent: WebDAVDepth) throws(WebDAVFault) {
        let values = headers[values: .depth]
        if values.isEmpty {
            self = absent
            return
        }
        switch values.count == 1 ? Grammar.lowercased(Grammar.trimmed(Substring(values[0]))) : "" {
        case "0": self = .zero
        case "1": self = .one
        case "infinity": self = .infinity
        default: throw WebDAVFault("Depth is 0, 1 or infinity.")
        }
    }
}

/// How long a lock is to hold: the field `Timeout` (RFC 4918 section 10.7).
struct WebDAVTimeout: Sendable, Hashable {
    /// The number of seconds; nil for as long as the server likes.
    let seconds: Int64?

    /// The first of the field's wishes that can be read; none without the field.
    init(_ headers: HTTPFields) {
        let wishes = headers[values: .timeout].flatMap(Grammar.list)
        seconds = wishes.lazy.compactMap(Self.wish).first ?? nil
    }

    /// Nil for what isn't a wish, and a nil within for no bound.
    private static func wish(_ text: Substring) -> Int64?? {
        if Grammar.matches(text, "Infinite") { return .some(nil) }
        let name = "Second-"
        guard Grammar.matches(text.prefix(name.count), name) else { return nil }
        let digits = text.dropFirst(name.count).utf8
        guard !digits.isEmpty, digits.allSatisfy(Grammar.isDigit) else { return nil }
        return Grammar.decimal(digits).map(Int64.init) ?? .max
    }

    /// For how long it is granted: at least a second, and no longer than the bound.
    func granted(upTo bound: Int64) -> Int64 {
        max(1, min(seconds ?? bound, bound))
    }
}

/// Why a request of WebDAV can't be done as it is written: 400.
struct WebDAVFault: Error, Sendable, Hashable {
    /// What is wrong, in a sentence for people.
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
