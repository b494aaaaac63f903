// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
public import HTTPTypes
public import Logging
public import Tracing

/// How a client connects, and how its connection behaves.
public struct WebSocketOptions: Sendable {
    /// The subprotocols to offer, the preferred one first; the server chooses one or none (RFC 6455 section 1.9).
    public var subprotocols: [String] = []
    /// Whether connecting fails if the server chooses none of ``subprotocols``.
    ///
    /// Default: false; ``WebSocket/subprotocol`` is `nil` then.
    ///
    /// The error has the code ``WebSocketError/Code/handshakeRefused``, and `HandshakeError.Code.subprotocolDeclined` below it.
    public var requiresSubprotocol = false
    /// Fields to send with the request.
    ///
    /// They replace ours of the same name: Host, User-Agent, Origin, Cookie, Authorization. Those that make the handshake
    /// can't be set, nor those that would give the request a body, nor two of what comes once: connecting fails with
    /// ``WebSocketError/Code/invalidRequest``.
    public var headers = HTTPFields()
    /// What shows the server who this is.
    ///
    /// Default: what the URL has before its `@`, or nothing.
    public var authentication = WebSocketAuthentication.none
    /// The origin to send, such as `https://example.com` or ``WebSocketOrigin/ofURL``, for servers that serve browsers only.
    ///
    /// Default: none.
    ///
    /// A field Origin in ``headers`` takes its place.
    public var origin: WebSocketOrigin?
    /// What to send as User-Agent.
    ///
    /// Default: nothing.
    ///
    /// Such a field in ``headers`` takes its place.
    public var userAgent: String?
    /// The jar of the cookies to send, and of those that servers set, also with refusals.
    ///
    /// Default: none, and no cookie is kept.
    ///
    /// A field Cookie in ``headers`` takes the place of those in the jar.
    public var cookies: CookieJar?
    /// How many redirects are followed.
    ///
    /// Default: 0, and the redirect is a refusal then. Never from `wss:` to `ws:`. To another scheme, host or port no field of ``headers`` is sent, and none of
    /// ``authentication``, not even when it leads back; of ``cookies`` what the jar has for it.
    public var redirects = 0
    /// How the connection below is made, to the server or to its proxy: which addresses are tried and when (RFC 8305),
    /// the families that are allowed, the address, interface and port that it comes from, and the options of the
    /// socket.
    ///
    /// All of it counts, and its `timeout`, `tls`, `resolver`, `proxy` and `onStage` are ``connectTimeout``, ``tls``,
    /// ``resolver``, ``proxy`` and ``onStage``: setting all of it at once sets these, too. Default: that of `ConnectOptions`,
    /// except for ``tls`` and ``proxy``.
    public var connectOptions = standardConnecting
    /// The proxy that the connection is made through.
    ///
    /// Default: what the environment says, as curl has it, and this machine directly; see ``ProxySettings/fromEnvironment``.
    public var proxy: ProxySettings {
        get { connectOptions.proxy }
        set { connectOptions.proxy = newValue }
    }
    /// The resolver of host names, also of the proxy's.
    ///
    /// Default: the system.
    ///
    /// It runs on the connection's loop, and so must not block. Give several connections one `CachingResolver` to have names
    /// ready, and the address first that worked last.
    public var resolver: any Resolver {
        get { connectOptions.resolver }
        set { connectOptions.resolver = newValue }
    }
    /// Called as each stage of connecting begins and as it is over: the name, each address, the proxy, TLS, the
    /// upgrade.
    ///
    /// Default: `nil`, which costs nothing.
    ///
    /// The calls come one after the other, nearly always on the connection's loop, and so must not block. `StageEvent.request`
    /// tells the requests apart that redirects and challenges lead to.
    public var onStage: (@Sendable (StageEvent) -> Void)? {
        get { connectOptions.onStage }
        set { connectOptions.onStage = newValue }
    }
    /// Whether to offer compression of messages (RFC 7692), and how.
    ///
    /// Default: it is offered.
    public var compression = WebSocketCompression.enabled
    /// What the server's messages may make this side hold.
    ///
    /// Default: `.internet`.
    public var limits = MessageLimits.internet
    /// Bounds of the response to the handshake, of which `headSize` and `headFields` count.
    ///
    /// Default: `.internet`.
    public var handshakeLimits = HTTPLimits.internet
    /// When to ping, and how long to wait for the pong.
    ///
    /// Default: a ping every 20 s, and 20 s for its pong.
    public var pings = PingPolicy.every(.seconds(20), timeout: .seconds(20))
    /// How long the whole attempt may take: looking names up, tokens, proxies, connecting, all handshakes, redirects
    /// and challenges together.
    ///
    /// Default: 10 s.
    public var connectTimeout: Duration {
        get { connectOptions.timeout }
        set { connectOptions.timeout = newValue }
    }
    /// Whether messages are received in pieces from the first one on, so that ``WebSocket/streamedMessages`` misses none
    /// however long it is.
    ///
    /// Default: false, which is from the first use of ``WebSocket/streamedMessages`` on.
    public var streamsMessages = false
    /// What secures connections to `wss:`.
    ///
    /// Default: the system's roots, the name of the host, and `http/1.1` by ALPN (RFC 7301 section 6).
    public var tls: TLSOptions {
        get { connectOptions.tls }
        set { connectOptions.tls = newValue }
    }
    /// How long the closing handshake may take before the connection is reset.
    ///
    /// Default: 10 s.
    public var closeTimeout = Duration.seconds(10)

    /// Logs the connection's opening and end at `debug`, and what goes wrong at `notice`, each with the connection's
    /// ``WebSocket/id`` as metadata.
    ///
    /// Default: none.
    ///
    /// Nothing is logged for each message.
    public var logger: Logger?
    /// The metrics of the connection.
    ///
    /// Default: none.
    public var metrics: WebSocketMetrics?
    /// Sees every frame in either direction.
    ///
    /// Default: none.
    public var tap: FrameTap?
    /// Get the timeline of the connection at its end, and of the attempt if it fails.
    ///
    /// Default: none.
    public var timelines: [TimelineSink] = []
    /// Makes a span of the handshake and one of the connection, both below the caller's, and sends the server the first
    /// one's context in the tracer's fields, such as `traceparent`.
    ///
    /// Default: none.
    ///
    /// What the app was bootstrapped with isn't asked for unless it is given here (`InstrumentationSystem.tracer`):
    /// finding it takes a lock for every connection. Spans don't have the URL's credentials and query.
    public var tracer: (any Tracer)?

    /// The durations that are set here and in what belongs to these options.
    package var durations: [DurationSetting] {
        [DurationSetting("connectTimeout", connectTimeout), DurationSetting("closeTimeout", closeTimeout)]
            + pings.durations + limits.durations.within("limits")
            + handshakeLimits.durations.within("handshakeLimits") + connectOptions.durations.within("connectOptions")
            + (metrics.map { [DurationSetting("metrics.interval", $0.interval)] } ?? [])
    }

    /// Which attempt of a reconnecting client it is.
    var attempt = 1

    /// Whether pings and pongs are reported to a delegate.
    package var tellsControlFrames = false

    /// What is to be seen of the connection.
    var observation: Observation {
        var observation = Observation()
        observation.logger = logger
        observation.metrics = metrics
        observation.tap = tap
        observation.attempt = attempt
        observation.timelines = timelines
        return observation
    }

    /// One value for all, so that the sessions of its TLS can be resumed.
    private static let standardConnecting: ConnectOptions = {
        var options = ConnectOptions(timeout: .seconds(10))
        options.tls.applicationProtocols = ["http/1.1"]
        options.proxy = .fromEnvironment
        return options
    }()

    /// The defaults.
    public init() {}

    /// The defaults, with what `URLSession` does by itself: up to 16 redirects are followed, and cookies are kept and sent.
    ///
    /// All copies share one jar, which lasts as long as the process. The proxy is the environment's, as by default.
    public static let urlSession: WebSocketOptions = {
        var options = WebSocketOptions()
        options.redirects = 16
        options.cookies = CookieJar()
        return options
    }()
}

/// How a client shows a server who it is.
///
/// What is chosen goes to the server of the URL alone, and not to another one that it redirects to. A field Authorization
/// in ``WebSocketOptions/headers`` takes its place.
@nonexhaustive
public enum WebSocketAuthentication: Sendable, CustomStringConvertible {
    /// Nothing, except a name and a password in the URL, which are used by Basic.
    case none
    /// By the scheme Basic, with the first request (RFC 7617).
    ///
    /// Hazard: without TLS everybody on the way can read the password.
    case basic(user: String, password: String)
    /// By the scheme Digest, once the server has asked for it (RFC 7616), which takes a second connection.
    ///
    /// MD5, SHA-256 and SHA-512/256, the strongest that the server offers. One that asks for Basic instead doesn't get the
    /// password, and has refused the handshake.
    case digest(user: String, password: String)
    /// By Digest or else by Basic, whichever the server asks for, once it has.
    case automatic(user: String, password: String)
    /// By a token (RFC 6750), which is asked for again for every request: tokens expire.
    ///
    /// The closure gives the token. It counts towards ``WebSocketOptions/connectTimeout`` and is cancelled at its end; what it throws
    /// makes the attempt fail as the cause of the error.
    case bearer(@Sendable () async throws -> String)

    enum Kind: Sendable {
        case none
        case password(PasswordCredentials, Authenticator.Schemes)
        case bearer(@Sendable () async throws -> String)
    }

    var kind: Kind {
        switch self {
        case .none: .none
        case .basic(let user, let password): Self.kind(user, password, .basic)
        case .digest(let user, let password): Self.kind(user, password, .digest)
        case .automatic(let user, let password): Self.kind(user, password, .strongest)
        case .bearer(let token): .bearer(token)
        }
    }

    private static func kind(_ user: String, _ password: String, _ schemes: Authenticator.Schemes) -> Kind {
        .password(PasswordCredentials(user: user, password: password), schemes)
    }

    /// The way, without the name, the password and the token.
    public var description: String {
        switch self {
        case .none: "none"
        case .basic: "basic"
        case .digest: "digest"
        case .automatic: "automatic"
        case .bearer: "bearer"
        }
    }
}

/// The field Origin of a client's request, for servers that serve the pages of certain sites only (RFC 6454).
///
/// ```swift
/// options.origin = .ofURL
/// options.origin = "https://example.com"
/// ```
@nonexhaustive
public enum WebSocketOrigin: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The server's own, made of the URL: `https://example.com` for `wss://example.com/chat`, with the port if it isn't the
    /// scheme's.
    ///
    /// SocketRocket sends this by itself. After a redirect it is the origin of the URL that the redirect leads to.
    case ofURL
    /// What is sent, such as `https://example.com`.
    case text(String)

    /// Makes an origin of a literal, such as `"https://example.com"`.
    public init(stringLiteral text: String) {
        self = .text(text)
    }

    /// What is sent to that server.
    func value(for url: WebSocketURL) -> String {
        switch self {
        case .text(let text): text
        case .ofURL: url.origin
        }
    }
}
