// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes

/// How a client connects.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")],
        parsing: .singleValue,
        help: ArgumentHelp("A field to send with the request; may be repeated.", valueName: "Name: value")
    )
    var headers: [HeaderArgument] = []

    @Option(
        name: [.customShort("s"), .customLong("subprotocol")],
        parsing: .singleValue,
        help: ArgumentHelp("A subprotocol to offer, the preferred one first; may be repeated.", valueName: "name")
    )
    var subprotocols: [String] = []

    @Option(
        name: .customLong("cookie"),
        parsing: .singleValue,
        help: ArgumentHelp("A cookie to send; may be repeated.", valueName: "name=value")
    )
    var cookies: [String] = []

    @Option(
        help: """
            Whether to have messages compressed (permessage-deflate), if the server does it, too. Default: on, and for \
            `bench` off.
            """
    )
    var compression: CompressionArgument?

    @Option(help: ArgumentHelp("The origin to send, for servers that serve browsers only.", valueName: "url"))
    var origin: String?

    @Option(help: ArgumentHelp("What to send as User-Agent.", valueName: "text"))
    var userAgent: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Who this is: the name and the password, by Digest or Basic as the server asks.",
            discussion: "Other programs of the machine can see it in the list of processes.",
            valueName: "name:password"
        )
    )
    var user: String?

    @Option(
        help: ArgumentHelp(
            "A token to send as Authorization: Bearer.",
            discussion: "Other programs of the machine can see it in the list of processes.",
            valueName: "token"
        )
    )
    var bearer: String?

    @Option(
        help: ArgumentHelp(
            "A proxy: a URL (http, https, socks4, socks4a, socks5, socks5h), none, system, or environment, which is the default for WebSockets.",
            valueName: "proxy"
        )
    )
    var proxy: ProxyArgument?

    @Option(help: ArgumentHelp("How many redirects to follow.", valueName: "count"))
    var redirects = 0

    @Option(help: ArgumentHelp("How long connecting may take, handshake and all: 10s, 250ms.", valueName: "time"))
    var timeout = TimeArgument.seconds(10)

    @OptionGroup var tls: ClientTLSArguments

    @OptionGroup var limits: LimitOptions

    func validate() throws {
        if !subprotocols.allSatisfy({ HTTPField.Name($0) != nil }) || Set(subprotocols).count < subprotocols.count {
            throw ValidationError("--subprotocol is a name without blanks, and no two are the same.")
        }
        try timeout.check(as: "--timeout")
        if redirects < 0 { throw ValidationError("--redirects must be 0 or more.") }
        if let user, !user.contains(":") { throw ValidationError("--user must be name:password.") }
        if user != nil && bearer != nil { throw ValidationError("--user and --bearer exclude each other.") }
        if !cookies.allSatisfy({ $0.contains("=") && HTTPField.isValidValue($0) && !$0.contains(";") }) {
            throw ValidationError("--cookie must be name=value.")
        }
    }

    /// - Throws: `SocketError` when a file lacks what it should have.
    var webSocketOptions: WebSocketOptions {
        get throws { try makeWebSocketOptions() }
    }

    /// How a connection of bytes is made.
    ///
    /// - Throws: as ``webSocketOptions``.
    var connectOptions: ConnectOptions {
        get throws {
            var options = ConnectOptions(timeout: timeout.duration)
            if let proxy { options.proxy = proxy.settings }
            options.tls = try tls.apply(to: options.tls)
            return options
        }
    }

    private func makeWebSocketOptions() throws -> WebSocketOptions {
        var options = WebSocketOptions()
        options.tls = try tls.apply(to: options.tls)
        options.subprotocols = subprotocols
        options.compression = (compression ?? .on).compression
        for header in headers { options.headers.append(header.field) }
        if !cookies.isEmpty { options.headers[.cookie] = cookies.joined(separator: "; ") }
        (options.origin, options.userAgent) = (origin.map { WebSocketOrigin.text($0) }, userAgent)
        options.redirects = redirects
        if let proxy { options.proxy = proxy.settings }
        if let user {
            let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            options.authentication = .automatic(user: String(parts[0]), password: String(parts[1]))
        }
        if let bearer { options.authentication = .bearer { bearer } }
        options.connectTimeout = timeout.duration
        options.limits = limits.messages
        options.handshakeLimits = limits.http
        return options
    }
}

/// A header field on the command line: `Name: value`.
struct HeaderArgument: ExpressibleByArgument, Sendable {
    let field: HTTPField

    /// Takes a name that is a token, a colon, and a value without control characters (RFC 9110 section 5).
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), let name = HTTPField.Name(String(argument[..<colon])) else {
            return nil
        }
        let value = argument[argument.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard HTTPField.isValidValue(String(value)) else { return nil }
        field = HTTPField(name: name, value: String(value))
    }
}

/// By way of which proxy to connect: `none`, `environment`, `system`, or a URL such as `socks5h://localhost:1080`.
struct ProxyArgument: ExpressibleByArgument, Sendable {
    let settings: ProxySettings
    private let text: String

    static let none = ProxyArgument(settings: .none, text: "none")

    private init(settings: ProxySettings, text: String) {
        self.settings = settings
        self.text = text
    }

    init?(argument: String) {
        switch argument {
        case "none": settings = .none
        case "environment": settings = .fromEnvironment
        case "system": settings = .system
        default:
            guard let proxy = try? ProxySettings.url(argument) else { return nil }
            settings = proxy
        }
        text = argument
    }

    var defaultValueDescription: String { text }
}

/// Whether messages are compressed: the choices of ``WebSocketCompression``.
enum CompressionArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// Not at all.
    case off
    /// If the peer wants it, too.
    case on
    /// No connection without it.
    case required

    var compression: WebSocketCompression {
        switch self {
        case .off: .disabled
        case .on: .enabled
        case .required: .required
        }
    }
}
