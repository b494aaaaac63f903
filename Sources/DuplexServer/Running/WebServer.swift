// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWire
package import HTTPTypes
public import Logging
public import ServiceLifecycle
public import Tracing

/// An HTTP/1.1 server with WebSockets on the same port, for embedding in an app.
///
/// A value: set it up, then call ``run(onListening:)``. HTTP requests are answered in order, several on one connection; a WebSocket may
/// begin on any of them.
public struct WebServer: Sendable {
    /// Where connections are accepted, and how: the first listener; ``listen(on:)`` adds others.
    public var listener: Listener
    private var otherListeners: [Listener] = []
    /// What clients may make the server hold or wait for.
    ///
    /// Default: `.internet`.
    public var limits = ServerLimits.internet
    /// What holds for WebSockets: pings, compression, subprotocols, origins, metrics, taps.
    ///
    /// Default: those of ``WebSocketServerOptions``.
    public var webSockets = WebSocketServerOptions()
    /// How long a closing handshake may take, and how long the end of ``run(onListening:)`` waits for connections.
    ///
    /// Default: 10 s.
    public var closeTimeout = Duration.seconds(10)
    /// How the end of ``run(onListening:)`` closes WebSockets and ends event streams.
    ///
    /// Default: all at once, with 1001.
    public var drain = Drain()
    /// How long a connection may stay without a request, and a client take nothing of a response.
    ///
    /// Default: 60 s.
    public var idleTimeout = Duration.seconds(60)
    /// The hosts that requests may be for, without ports; 421 answers others (RFC 9110 section 15.5.20).
    ///
    /// Default: all, but for a server on loopback, which answers for `localhost`, `*.localhost`, `127.0.0.0/8` and `[::1]`
    /// only, and for hosts that routes are for: any page could otherwise reach it by a name of its own that leads to this
    /// machine (DNS rebinding). The names here are allowed beside those. `*.example.com` allows all that ends so, and `"*"`
    /// allows all: for a server behind a proxy that passes the host on.
    public var allowedHosts: [String]?
    /// Whether ``run(onListening:)`` returns although cancelled handlers still run after ``closeTimeout``.
    ///
    /// They run on in that case. The log names them either way. Default: false.
    package var leavesHandlersBehind = false
    /// Logs what no caller can get: handlers that failed, a lack of descriptors.
    ///
    /// Faults of clients are logged at `debug`, connection by connection, and at `info` as sums, every ten seconds at
    /// most, so that nobody can fill a disk from outside. Each WebSocket's opening and end is logged at `debug`, with
    /// its `WebSocket.id` as metadata.
    public var logger = Logger(label: "duplex.server")
    /// Makes a span of each request, of each handshake and of each WebSocket, below the client's if its request has
    /// one.
    ///
    /// Handlers run in the context of their span; that of a request is `request[RequestSpan.self]`. Give
    /// `InstrumentationSystem.tracer` for the one that the app was bootstrapped with. Default: none.
    public var tracer: (any Tracer)?
    /// How long a handler may run without a wait before a warning names its route.
    ///
    /// Default: 100 ms; nil turns it off.
    ///
    /// Meanwhile no other connection of the loop is served: long work belongs on a thread of its own. Measured to 4 ms.
    /// Each route is named once a minute at most, with how often that was.
    public var blockedLoopThreshold: Duration? = .milliseconds(100)
    /// The loops that connections are spread over.
    ///
    /// Default: one for each core of the machine.
    public var eventLoops: EventLoopGroup?

    /// Called with the URLs, as of ``RunningServer/urls``, once connections are accepted.
    package var onServing: [@Sendable ([String]) -> Void] = []
    /// What answers requests, in the order of the app.
    var routes: [RouteDefinition] = []
    /// What holds for all requests.
    private var options: [RouteOption] = []

    /// Makes a server without routes.
    ///
    /// - Parameters:
    ///   - host: which interfaces to listen on. Default: this machine only.
    ///   - port: the port; 0 has the system choose, see ``run(onListening:)``.
    public init(host: LocalHost = .loopback, port: Int) {
        self.init(.tcp(host: host, port: port))
    }

    /// Makes a server without routes that listens on any kind of address, such as a Unix socket.
    public init(_ address: ListenAddress) {
        listener = Listener(address)
    }

    /// What secures the connections of ``listener``.
    ///
    /// ```swift
    /// server.tls = try .pem(certificatesAt: "cert.pem", keyAt: "key.pem")
    /// ```
    ///
    /// ``run(until:onListening:onHangUp:)`` reads such files again at SIGHUP. Default: nil, connections are in the clear.
    public var tls: TLSServerOptions? {
        get { listener.tls }
        set { listener.tls = newValue }
    }

    /// Listens on one more address, for the same routes.
    ///
    /// ```swift
    /// server.listen(on: Listener(.tcp(host: .any, port: 443), tls: TLSServerOptions(identity)))
    /// server.listen(on: Listener(.unix("/run/app.sock")))
    /// ```
    public mutating func listen(on listener: Listener) {
        otherListeners.append(listener)
    }

    var listeners: [Listener] { [listener] + otherListeners }

    /// Adds middleware and settings for all requests, also those that no route answers.
    ///
    /// ```swift
    /// server.use(.requestID(), .securityHeaders())
    /// ```
    ///
    /// - Parameter options: middleware and settings. Those of groups and routes come after them.
    public mutating func use(_ options: RouteOption...) {
        self.options += options
    }

    // MARK: Running

    /// Serves until the task is cancelled, and then shuts down gracefully.
    ///
    /// On cancellation no further connection is accepted, WebSockets are closed as ``drain`` says, requests that were
    /// begun are answered, and at most ``closeTimeout`` after the last WebSocket got its close frame everything is
    /// closed.
    ///
    /// - Parameter onListening: gets the address, with the actual port, once the server listens and before the first request. It
    ///   may take its time: connections wait. Default: nothing.
    /// - Throws: ``RouteError`` when the routes contradict each other, or a duration isn't longer than zero;
    ///   `SocketError` when the port can't be had; what `onListening` throws. Being cancelled is the normal end and throws
    ///   nothing.
    public func run(
        onListening: @escaping @Sendable (SocketAddress) async throws -> Void = { _ in }
    ) async throws {
        try await RunningServer(self).serve(onListening) {}
    }

    /// Starts to serve, and returns once connections are accepted.
    ///
    /// ```swift
    /// let running = try await server.start()
    /// print(running.urls, await running.counts.requests)
    /// await running.stop(within: .seconds(5))
    /// ```
    ///
    /// - Returns: the running server, which stops with its last reference.
    /// - Throws: ``RouteError`` when the routes contradict each other, or a duration isn't longer than zero;
    ///   `SocketError` when a port can't be had.
    public func start() async throws -> RunningServer {
        let running = try RunningServer(self)
        do {
            try await running.accept()
        } catch {
            await running.stop(within: .zero)
            throw error
        }
        return running
    }

    /// Runs `body` beside the server and stops the server when it returns.
    ///
    /// - Parameter body: gets the address that is listened on.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw, or `SocketError` when the port can't be had.
    package func withRunning<Result: Sendable>(
        _ body: @escaping @Sendable (SocketAddress) async throws -> Result
    ) async throws -> Result {
        let (addresses, continuation) = AsyncStream<SocketAddress>.makeStream()
        return try await withThrowingTaskGroup(of: Result?.self) { tasks in
            tasks.addTask {
                defer { continuation.finish() }
                try await run { continuation.yield($0) }
                return nil
            }
            tasks.addTask {
                for await address in addresses { return try await body(address) }
                return nil
            }
            while let result = try await tasks.next() {
                guard let result else { continue }
                tasks.cancelAll()
                try await tasks.waitForAll()
                return result
            }
            throw CancellationError()
        }
    }

    // MARK: Settings

    /// What answers what, once the routes have been checked.
    func table() throws(RouteError) -> RouteTable {
        let settings = settings
        // Also without a route: what `use(_:)` has set holds for every request.
        try RouteError.check(durations + settings.durations, of: "server")
        let table = try RouteTable(routes, settings: settings)
        if table.hasWebSockets { SHA1.load() }
        return table
    }

    /// The durations that are set here.
    private var durations: [DurationSetting] {
        [
            DurationSetting("closeTimeout", closeTimeout), DurationSetting("idleTimeout", idleTimeout),
            DurationSetting("blockedLoopThreshold", optional: blockedLoopThreshold),
            DurationSetting("drain.spread", drain.spread, allowsZero: true),
        ] + webSockets.durations + limits.messages.durations.within("limits.messages")
            + limits.http.durations.within("limits.http")
    }

    /// What routes begin with.
    private var settings: RouteSettings {
        RouteSettings(
            messages: limits.messages,
            http: limits.http,
            pings: webSockets.pings,
            closeTimeout: closeTimeout,
            subprotocols: webSockets.subprotocols,
            origins: webSockets.origins,
            compression: webSockets.compression,
            compressionQuirks: webSockets.compressionQuirks,
            tracer: tracer,
            logger: logger
        ).with(options)
    }

    /// The hosts that are answered for by a listener, beside those that routes are for.
    func hosts(at address: ListenAddress) -> AllowedHosts {
        AllowedHosts(allowedHosts, isLocal: address.isLoopback)
    }

    /// What connections are served with.
    func serving(_ ends: EndSummary) -> ServingSettings {
        ServingSettings(
            session: HTTPServerSession.Settings(limits: limits.http, idleTime: idleTimeout),
            closeTimeout: closeTimeout,
            ends: ends,
            logger: logger,
            tracer: tracer
        )
    }

    // MARK: As a service

    /// The server as a service, for a `ServiceGroup`: it serves until the group shuts down, in order, or until its task is
    /// cancelled.
    public var service: some Service { WebServerService(server: self) }
}

extension WebServer: RouteBuilder {
    /// Adds a route.
    public mutating func add(_ route: RouteDefinition) {
        routes.append(route)
    }

    /// The paths of all routes, and their methods; nil for a WebSocket, and for what takes any.
    package var routeTexts: [(method: HTTPRequest.Method?, path: String)] {
        routes.map { route in
            if case .request(let method, _) = route.action { return (method, route.path) }
            return (nil, route.path)
        }
    }
}

/// A server in a service group: it shuts down gracefully when the group does, and on cancellation.
private struct WebServerService: Service {
    let server: WebServer

    /// Serves until the group shuts down or the task is cancelled.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await server.run()
        }
    }
}

/// Bounds on what clients may make a server hold or wait for.
///
/// Start from a preset and change what differs: `server.limits.http.bodySize = .mebibytes(8)`.
public struct ServerLimits: Sendable, Hashable {
    /// Of the messages of WebSockets; a route may have its own (``RouteOption/limits(_:)``).
    public var messages: MessageLimits
    /// Of requests; a route may have its own bound of bodies (``RouteOption/bodySize(_:)``).
    public var http: HTTPLimits
    /// The most connections that a server keeps at once from one IPv4 address, or from the 64 bits of an IPv6 address that a
    /// provider gives out; one more is closed at once.
    ///
    /// Those from this machine aren't counted: a proxy has the connections of many clients. If it names the clients,
    /// with the PROXY protocol, those are counted.
    public var connectionsPerAddress: Int

    /// For untrusted clients; the default: 1,024 connections from an address, and the presets of that name.
    public static let internet = ServerLimits(messages: .internet, http: .internet, connectionsPerAddress: 1_024)

    /// For clients on your own network: any number of connections from an address, and the presets of that name.
    public static let local = ServerLimits(messages: .local, http: .local, connectionsPerAddress: .max)

    /// For clients that are trusted with this process's memory: the presets of that name, and any number of connections.
    public static let unlimited = ServerLimits(messages: .unlimited, http: .unlimited, connectionsPerAddress: .max)
}

/// How WebSockets are closed when the server shuts down.
///
/// Clients that are all closed at once reconnect all at once. Closed in batches, they reconnect to the remaining
/// servers, or to the next one, at a rate that these can bear. Handlers run on until their connection's turn comes.
public struct Drain: Sendable, Hashable {
    /// The close code.
    ///
    /// Default: 1001.
    ///
    /// 1012 says that another server takes over at once (RFC 6455 section 7.4.1, and IANA's registry).
    package var code: CloseCode
    /// The reason for people; cut at 123 bytes.
    package var reason: String
    /// Over how long they are closed.
    ///
    /// Default: zero, for all at once.
    package var spread: Duration

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - code: the close code, as in `WebSocket.close(code:reason:)`. 1012 says that another server takes over at once (RFC 6455
    ///     section 7.4.1, and IANA's registry). Default: 1001.
    ///   - reason: the reason for people; cut at 123 bytes. Default: none.
    ///   - spread: over how long they are closed, in 20 batches at most. `WebServer.closeTimeout` counts from the last of them.
    ///     Default: zero, for all at once.
    public init(code: CloseCode = .goingAway, reason: String = "", over spread: Duration = .zero) {
        self.code = code
        self.reason = reason
        self.spread = spread
    }
}
