// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire
package import HTTPTypes

/// A setting or middleware of a route or a group of routes.
///
/// ```swift
/// server.webSocket("/log", .subprotocols("log.v1"), .limits(.local)) { socket in … }
/// ```
public struct RouteOption: Sendable {
    let apply: @Sendable (inout RouteSettings) -> Void

    /// Has durations checked when the server starts.
    package static func checking(_ durations: [DurationSetting]) -> RouteOption {
        RouteOption { $0.durations += durations }
    }

    /// Has `OPTIONS *` and `OPTIONS /` answered with fields that announce the route, unless the app answers them.
    package static func announcing(_ headers: HTTPFields) -> RouteOption {
        RouteOption { settings in
            for field in headers { settings.announced[field.name] = field.value }
        }
    }

    /// What the messages of WebSockets may make the server hold or wait for.
    public static func limits(_ limits: MessageLimits) -> RouteOption {
        RouteOption {
            $0.messages = limits
            $0.durations += limits.durations.within("limits")
        }
    }

    /// The longest body of a request; a longer one gets 413.
    ///
    /// The limits of a head are the server's, since they hold before it is known which route it leads to.
    public static func bodySize(_ size: ByteCount) -> RouteOption {
        RouteOption { $0.http.bodySize = size }
    }

    /// Whether the codings of a request's body, gzip and deflate, are taken off before the handler reads it.
    ///
    /// Default: true. The body is bounded by ``bodySize(_:)`` as it comes and as it becomes, and where that is unlimited it becomes
    /// 64 MiB at most; a longer one gets 413. Another coding, or more than two, is answered with 415. Without it a handler gets the bytes as they come, and `Content-Encoding` says what they are: for one that
    /// keeps them or passes them on. With it, too, `Content-Encoding` says how the bytes came, though they are plain by
    /// now.
    public static func inflatesBodies(_ inflates: Bool) -> RouteOption {
        RouteOption { $0.inflatesBodies = inflates }
    }

    /// Allows `async` handlers to send early hints with ``Request/sendEarlyHints(_:headers:)`` (RFC 8297).
    public static let earlyHints = RouteOption { $0.sendsEarlyHints = true }

    /// The least bytes of a request's body in a second, once `headTime` has passed; 408 answers a slower one.
    public static func bodyRate(_ rate: ByteCount) -> RouteOption {
        RouteOption { $0.http.bodyRate = rate }
    }

    /// How long a handler may take to answer, its middleware included; after that it is cancelled, and the client gets 503.
    ///
    /// The connection ends after that answer. It holds until the handler returns its response, for a WebSocket until it
    /// is decided on; a body that is written while it is made may take longer. Default: no limit.
    ///
    /// Hazard: a handler that doesn't look at its cancellation runs on, though its client has been answered. One that
    /// doesn't wait can't be interrupted at all.
    public static func timeLimit(_ limit: Duration) -> RouteOption {
        RouteOption {
            $0.timeLimit = limit
            $0.durations.append(DurationSetting("timeLimit", limit))
        }
    }

    /// The subprotocols that WebSockets speak, the preferred one first (RFC 6455 section 1.9).
    ///
    /// - Parameters:
    ///   - names: the names.
    ///   - isRequired: whether a client that asks for none of them is refused with 400. Default: false.
    /// - Returns: the option.
    public static func subprotocols(_ names: String..., isRequired: Bool = false) -> RouteOption {
        RouteOption {
            $0.subprotocols = names
            $0.requiresSubprotocol = isRequired
        }
    }

    /// Which pages may open WebSockets (RFC 6455 section 10.2).
    public static func origins(_ policy: OriginPolicy) -> RouteOption {
        RouteOption { $0.origins = policy }
    }

    /// Whether WebSockets accept compression of messages, and how (RFC 7692).
    public static func compression(_ compression: WebSocketCompression) -> RouteOption {
        RouteOption { $0.compression = compression }
    }

    /// Which clients' offers of compression are declined because theirs doesn't work.
    static func compressionQuirks(_ quirks: CompressionQuirks) -> RouteOption {
        RouteOption { $0.compressionQuirks = quirks }
    }

    /// When to ping WebSocket clients, and how long to wait for the pong.
    public static func pings(_ pings: PingPolicy) -> RouteOption {
        RouteOption {
            $0.pings = pings
            $0.durations += pings.durations
        }
    }

    /// How long the closing handshake of a WebSocket may take.
    public static func closeTimeout(_ timeout: Duration) -> RouteOption {
        RouteOption {
            $0.closeTimeout = timeout
            $0.durations.append(DurationSetting("closeTimeout", timeout))
        }
    }

    // MARK: Middleware

    /// Runs before the handler, and may answer in its place.
    ///
    /// ```swift
    /// server.use(.before { request in
    ///     request.headers[.userAgent] == nil ? .text("Who are you?", status: .badRequest) : nil
    /// })
    /// ```
    ///
    /// It holds for requests and for those that open WebSockets, before their bodies are asked for. Middleware
    /// runs in the order in which it was added: that of the server, of the groups, of the route. A closure that doesn't
    /// wait costs no task. For middleware with a state or a name of its own see ``Middleware``.
    ///
    /// - Parameter body: may note values with the request (``RequestKey``), and returns a response, or `nil` to go on.
    ///   What it throws is answered as what a handler throws.
    /// - Returns: the option.
    public static func before(_ body: @escaping @Sendable (Request) throws -> Response?) -> RouteOption {
        RouteOption { $0.middleware.append(.before(body)) }
    }

    /// Runs before the handler, may wait, and may answer in its place.
    ///
    /// - Parameter body: as of the one that doesn't wait.
    /// - Returns: the option.
    public static func before(
        _ body: @escaping @Sendable (Request) async throws -> Response?
    ) -> RouteOption {
        RouteOption { $0.middleware.append(.beforeWaiting(body)) }
    }

    /// Has something at hand while the handler runs, the middleware after this runs, and the body of the response is written.
    ///
    /// A handler that doesn't wait stays one. The handler of a WebSocket runs without it.
    package static func within(_ context: some HandlerContext) -> RouteOption {
        RouteOption { $0.middleware.append(.within(context)) }
    }

    /// Sees each response before it is sent, and may change it: also those of errors, and the server's own refusals.
    ///
    /// Middleware sees it in the reverse of their order: the route's, the groups', the server's.
    ///
    /// A request that couldn't be read is shown to it as a GET of an empty path, without fields.
    ///
    /// - Parameter body: gets the request, as the handler got it, and the response.
    /// - Returns: the option.
    public static func after(_ body: @escaping @Sendable (Request, inout Response) -> Void) -> RouteOption {
        RouteOption { $0.addFinishing(body) }
    }

    /// Runs around the handler: before it and after it.
    ///
    /// ```swift
    /// server.use(.around { request, next in
    ///     let start = ContinuousClock.now
    ///     defer { logger.info("\(request.path) took \(start.duration(to: .now))") }
    ///     return try await next(request)
    /// })
    /// ```
    ///
    /// For a WebSocket it stands around the decision whether to open it: `next` returns a response with the status 101
    /// then.
    ///
    /// - Parameter body: gets the request and `next`, which runs the rest. Errors of `next` may be rethrown.
    /// - Returns: the option.
    public static func around(
        _ body: @escaping @Sendable (Request, @Sendable (Request) async throws -> Response) async throws -> Response
    ) -> RouteOption {
        RouteOption { $0.middleware.append(.around(body)) }
    }

    /// Called with the outcome of each request once its response is sent.
    ///
    /// Also for requests that the server answers by itself, for heads that couldn't be parsed, and for clients that
    /// have disconnected. For a WebSocket it is called when it opens, with 101.
    ///
    /// ```swift
    /// server.use(.completed { request, outcome in
    ///     if outcome.duration > .seconds(1) { logger.warning("slow", metadata: ["path": "\(request.path)"]) }
    /// })
    /// ```
    ///
    /// - Parameter body: runs on the connection's loop, and must not block it. A request that couldn't be read is shown
    ///   as a GET of an empty path, without fields.
    /// - Returns: the option.
    public static func completed(_ body: @escaping @Sendable (Request, RequestOutcome) -> Void) -> RouteOption {
        .observed(by: CompletionObserver(body: body))
    }

    package static func observed(by observer: any RequestObserver) -> RouteOption {
        RouteOption { $0.observers.append(observer) }
    }

    /// Several options as one, in their order.
    ///
    /// ```swift
    /// extension RouteOption {
    ///     static let house = RouteOption.all(.requestID(), .securityHeaders())
    /// }
    /// ```
    public static func all(_ options: RouteOption...) -> RouteOption { all(options) }

    /// Several options as one, in their order.
    package static func all(_ options: [RouteOption]) -> RouteOption {
        RouteOption { settings in
            for option in options { option.apply(&settings) }
        }
    }

    /// Compresses responses for clients that take it: gzip, or deflate where a client wants only that (RFC 9110 section
    /// 12.5.3).
    ///
    /// ```swift
    /// server.use(.compressResponses())
    /// server.get("/account", .compressResponses(.disabled)) { … }
    /// ```
    ///
    /// Text and what is like it, from 1 KiB on, after all other middleware. What a ``ResponseWriter`` writes can be read by
    /// the client as soon as it has come, and holds 104 KiB meanwhile. A file is compressed again each time, but for
    /// those that `files` keeps compressed. Left as they are: parts of contents, streams of events, what has a
    /// `Content-Encoding` or is `no-transform`. `Vary` names `Accept-Encoding`, and a strong `ETag` becomes a weak one,
    /// with which GET and HEAD are answered with 304 as before.
    ///
    /// Hazard: where a page holds a secret, and text that a stranger may choose, its compressed length reveals the
    /// secret to whoever sees lengths on the network (BREACH).
    ///
    /// - Parameter compression: which responses, and how hard. Default: from 1 KiB on, at level 6.
    /// - Returns: the option.
    public static func compressResponses(_ compression: ResponseCompression = ResponseCompression()) -> RouteOption {
        RouteOption { $0.finishing = ($0.finishing ?? ResponseMiddleware()).compressing(compression) }
    }

    /// Makes the responses of problems: nothing matches, a rule is broken, a handler has failed.
    ///
    /// Default: JSON (RFC 9457) for clients that prefer that to text, and plain text for others.
    ///
    /// - Parameter make: gets the request and what is wrong. The problem's fields are added to what it returns.
    /// - Returns: the option.
    public static func problems(_ make: @escaping @Sendable (Request, Problem) -> Response) -> RouteOption {
        RouteOption { $0.problems = make }
    }
}
