// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// The address of a Redis server, and its user and password.
///
/// - `redis://user:password@host:6379/0`: over TCP; `rediss://` with TLS.
/// - `redis+unix:///path?db=0` or `unix:///path`: over a Unix socket; `redis+unix://user:password@/path` logs in.
///
/// User, password, port and database may be missing: nobody logs in, and the port is 6,379, the database 0. A password
/// without a user, as in `redis://:password@host`, is that of the user `default`. What isn't a letter, a digit, or one of
/// `-._~` has to be percent-encoded in a user and a password. An IPv6 address stands in brackets.
///
/// Neither ``description`` nor an error shows the password.
struct RedisURL: Sendable, Hashable, CustomStringConvertible {
    /// Where the server listens.
    enum Place: Sendable, Hashable {
        case host(String, port: Int)
        case unix(String)
    }

    /// Who logs in.
    struct Credentials: Sendable, Hashable {
        var user: String
        var password: String
    }

    let place: Place
    let isSecured: Bool
    let credentials: Credentials?
    /// The number of the database, 0 or more.
    let database: Int

    /// The port where none is written: 6,379.
    static let defaultPort = 6_379

    /// Reads a URL.
    ///
    /// - Parameter text: the URL.
    /// - Throws: ``TopicError`` with ``TopicError/Code/invalidURL``, which says what is wrong and repeats nothing of it.
    init(_ text: String) throws(TopicError) {
        guard let colon = text.firstIndex(of: ":") else { throw Self.invalid("It begins with no scheme.") }
        let rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else { throw Self.invalid("Two slashes have to follow the scheme.") }
        let (authority, tail) = Self.split(rest.dropFirst(2))
        let (credentials, host) = try Self.credentials(authority)
        self.credentials = credentials
        switch text[..<colon].lowercased() {
        case "redis", "rediss":
            isSecured = text[..<colon].count == "rediss".count
            place = try Self.hostAndPort(host)
            database = try Self.database(tail)
        case "unix", "redis+unix":
            isSecured = false
            if !host.isEmpty { throw Self.invalid("A Unix socket has no host: three slashes stand before its path.") }
            (place, database) = try Self.pathAndDatabase(tail)
        default:
            throw Self.invalid("Its scheme is none of redis, rediss, redis+unix and unix.")
        }
    }

    /// The URL of the same user, database and security at another place.
    init(_ other: RedisURL, at host: String, port: Int) {
        place = .host(host, port: port)
        isSecured = other.isSecured
        credentials = other.credentials
        database = other.database
    }

    /// The host, or the path of the Unix socket.
    var host: String {
        switch place {
        case .host(let name, _): name
        case .unix(let path): path
        }
    }

    /// What is connected to.
    var endpoint: Endpoint {
        switch place {
        case .host(let name, let port): isSecured ? .tls(name, port: port) : .host(name, port: port)
        case .unix(let path): .unix(path)
        }
    }

    /// The URL without user and password.
    var description: String {
        switch place {
        case .host(let name, let port):
            let scheme = isSecured ? "rediss" : "redis"
            return "\(scheme)://\(name.contains(":") ? "[\(name)]" : name):\(port)/\(database)"
        case .unix(let path): return "redis+unix://\(path)?db=\(database)"
        }
    }

    // MARK: Reading

    /// What stands before the path, and the path with what follows it.
    private static func split(_ text: Substring) -> (authority: Substring, tail: Substring) {
        let end = text.firstIndex { "/?#".contains($0) } ?? text.endIndex
        return (text[..<end], text[end...])
    }

    private static func credentials(
        _ authority: Substring
    ) throws(TopicError) -> (credentials: Credentials?, host: Substring) {
        guard let sign = authority.lastIndex(of: "@") else { return (nil, authority) }
        let host = authority[authority.index(after: sign)...]
        let parts = authority[..<sign].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let user = PercentDecoding.decode(parts[0]),
            let password = PercentDecoding.decode(parts[1])
        else {
            throw invalid(
                "User and password are written as user:password@, with % and two digits for what isn't plain."
            )
        }
        return (Credentials(user: user.isEmpty ? "default" : user, password: password), host)
    }

    private static func hostAndPort(_ text: Substring) throws(TopicError) -> Place {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw invalid("A bracket isn't closed.") }
            let address = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard let host = PercentDecoding.decode(address), host.contains(":"), rest.isEmpty || rest.hasPrefix(":")
            else { throw invalid("What stands in brackets isn't an IPv6 address, or no port follows it.") }
            return .host(host, port: try port(rest.dropFirst()))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count > 2 { throw invalid("It has several colons: an IPv6 address stands in brackets.") }
        guard let first = parts.first, let host = PercentDecoding.decode(first), !host.isEmpty,
            !host.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || "/?#@[]:\\%,".utf8.contains($0) })
        else { throw invalid("It has no host, or one with characters that no host has; it names one server only.") }
        return .host(host, port: try port(parts.count == 2 ? parts[1] : ""))
    }

    private static func port(_ text: Substring) throws(TopicError) -> Int {
        if text.isEmpty { return defaultPort }
        guard let port = number(text), (1...65_535).contains(port) else {
            throw invalid("The port isn't a number from 1 to 65535; a slash in a password is written %2F.")
        }
        return port
    }

    private static func database(_ tail: Substring) throws(TopicError) -> Int {
        if tail.isEmpty || tail == "/" { return 0 }
        guard tail.hasPrefix("/"), let database = number(tail.dropFirst()) else {
            throw invalid("Only the number of a database may follow the host, as in redis://host/1.")
        }
        return database
    }

    private static func pathAndDatabase(_ tail: Substring) throws(TopicError) -> (Place, Int) {
        let parts = tail.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.contains("#"), let path = PercentDecoding.decode(first),
            path.hasPrefix("/"), path.utf8.count > 1
        else { throw invalid("A Unix socket is written with its whole path, as in redis+unix:///run/redis.sock.") }
        guard parts.count == 2 else { return (.unix(path), 0) }
        guard parts[1].hasPrefix("db="), let database = number(parts[1].dropFirst(3)) else {
            throw invalid("Only the number of a database may follow the path, as in redis+unix:///path?db=1.")
        }
        return (.unix(path), database)
    }

    /// A number of digits and nothing else.
    private static func number(_ text: Substring) -> Int? {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    private static func invalid(_ message: String) -> TopicError {
        TopicError(.invalidURL, "The URL of a Redis server can't be used. \(message)")
    }
}

extension RedisURL: ExpressibleByStringLiteral {
    /// Reads a URL that stands in the source; one that can't be used traps.
    init(stringLiteral text: String) {
        do {
            self = try RedisURL(text)
        } catch {
            preconditionFailure(error.message)
        }
    }
}
