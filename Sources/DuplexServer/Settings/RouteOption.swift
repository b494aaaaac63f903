// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire
package import HTTPTypes

/// A setting or a step of a route or a group of routes.
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
    package static func announcing(_ fields: HTTPFields) -> RouteOption {
        RouteOption { settings in
            for field in fields { settings.announced[field.name] = field.value }
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

    /// Allows `async` handlers to send early hints with ``Request/sendEarlyHints(_:fields:)`` (RFC 8297).
    public static let earlyHints = RouteOption { $0.sendsEarlyHints = true }

    /// The least bytes of a request's body in a second, once `headTime` has passed; 408 answers a slower one.
    public static func bodyRate(_ rate: ByteCount) -> RouteOption {
        RouteOption { $0.http.bodyRate = rate }
    }

    /// How long a handler may take to answer, its steps included; after that it is cancelled, and the client gets 503.
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
    public static func compressionQuirks(_ quirks: CompressionQuirks) -> RouteOption {
        RouteOption { $0.compressionQuirks = quirks }
    }

    /// When to ping WebSocket clients, and how long to wait for the pong.
    public static func keepalive(_ keepalive: Keepalive) -> RouteOption {
        RouteOption {
            $0.keepalive = keepalive
            $0.durations += keepalive.durations
        }
    }

    /// How long the closing handshake of a WebSocket may take.
    public static func closeTimeout(_ timeout: Duration) -> RouteOption {
        RouteOption {
            $0.closeTimeout = timeout
            $0.durations.append(DurationSetting("closeTimeout", timeout))
        }
    }
}
