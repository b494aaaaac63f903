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
    ///   - fields: of the request.
    ///   - host: the host and port that the request is for.
    ///   - aliases: others by which clients know the server, such as those of `ForwardedHosts`; one without a port
    ///     stands for any port.
    /// - Throws: ``WebDAVFault`` without the field, and for what is neither a URL nor a path.
    init(_ fields: HTTPFields, host: String, aliases: [String] = []) throws(WebDAVFault) {
        let values = fields[values: .destination]
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
    static func overwrites(_ fields: HTTPFields) throws(WebDAVFault) -> Bool {
        let values = fields[values: .overwrite]
        if values.isEmpty { return true }
        switch values.count == 1 ? Grammar.lowercased(Grammar.trimmed(Substring(values[0]))) : "" {
        case "t": return true
        case "f": return false
        default: throw WebDAVFault("Overwrite is T or F.")
        }
    }
}
