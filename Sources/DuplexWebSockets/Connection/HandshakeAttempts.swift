// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
public import HTTPTypes

/// The requests that lead to one WebSocket: more than one where the server redirects or asks who this is.
///
/// One deadline is for all of them.
struct HandshakeAttempts: Sendable {
    private let loop: EventLoop
    private let options: WebSocketOptions
    private let handler: (any WebSocketHandler)?
    private let began: Instant

    init(loop: EventLoop, options: WebSocketOptions, handler: (any WebSocketHandler)?) {
        self.loop = loop
        began = loop.clock.now()
        self.options = options
        self.handler = handler
    }

    private var deadline: Instant { began.advanced(by: options.connectTimeout) }

    /// Makes requests until one is answered by a WebSocket, or none is left to be made.
    func run(_ plan: HandshakePlan) async throws -> WebSocket {
        try WebSocketError.check(options.durations)
        var plan = plan
        guard !options.timelines.isEmpty else { return try await traced(&plan) }
        do {
            return try await traced(&plan)
        } catch {
            // Who gives up doesn't fail.
            if !(error is CancellationError) {
                let report = TimelineReport(failed: error, url: plan.target.withoutQuery, attempt: options.attempt)
                for sink in options.timelines { sink.take(report) }
            }
            throw error
        }
    }

    private func traced(_ plan: inout HandshakePlan) async throws -> WebSocket {
        guard let tracer = options.tracer else { return try await run(&plan, nil) }
        let span = HandshakeSpan(tracer, to: plan.target)
        do {
            return try await run(&plan, span)
        } catch {
            span.failed(error)
            throw error
        }
    }

    private func run(_ plan: inout HandshakePlan, _ span: HandshakeSpan?) async throws -> WebSocket {
        while true {
            let token = try await token(plan)
            var headers = plan.headers(token: token)
            span?.inject(into: &headers)
            do {
                return try await request(plan, headers, span)
            } catch var error as WebSocketError {
                guard let refusal = error.handshake else { throw error }
                do throws(HandshakeError) {
                    guard try plan.follow(refusal) else { throw refusal }
                } catch let described {
                    error.cause = described
                    throw error
                }
            }
        }
    }

    /// A bearer token for the next request, if there is to be one.
    private func token(_ plan: HandshakePlan) async throws -> String? {
        guard let source = plan.token else { return nil }
        do {
            let token = try await TokenRequest(on: loop).run(until: deadline, source)
            guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw WebSocketError(.invalidRequest, message: "The bearer token has characters that no token has.")
            }
            return token
        } catch is CancellationError where Task.isCancelled {
            throw CancellationError()
        } catch var error as WebSocketError {
            error.timeline = progress(plan).timeline(.request)
            throw error
        } catch {
            let message = "There is no bearer token for \(plan.target)."
            var error = WebSocketError(.invalidRequest, message: message, cause: error)
            error.timeline = progress(plan).timeline(.request)
            throw error
        }
    }

    private func request(
        _ plan: HandshakePlan,
        _ headers: HTTPFields,
        _ span: HandshakeSpan?
    ) async throws -> WebSocket {
        let target = plan.target
        // Before anything is connected, so that a request that can't be made fails at once.
        let handshake = try handshake(target, headers)
        let progress = progress(plan, span)
        let onStage = onStage(of: plan)
        let driver = try await connect(plan, onStage) { [loop, options, handler] channel, timeline in
            HandshakeDriver(
                target,
                options,
                handshake,
                loop: loop,
                channel: channel,
                handler: handler,
                progress: progress.connected(timeline, channel.value.tlsConnection),
                stages: StageTeller(onStage, loop.clock)
            )
        }
        return try await driver.run(until: deadline)
    }

    /// The callback for the stages of the next request: it adds the attempt and the request to each.
    private func onStage(of plan: HandshakePlan) -> StageTeller.Callback? {
        guard let onStage = options.onStage else { return nil }
        return { [attempt = options.attempt, request = plan.requests, url = plan.target.withoutQuery] event in
            var event = event
            (event.attempt, event.request, event.url) = (attempt, request, url)
            onStage(event)
        }
    }

    private func progress(_ plan: HandshakePlan, _ span: HandshakeSpan? = nil) -> HandshakeProgress {
        HandshakeProgress(began: began, clock: loop.clock, requests: plan.requests, span: span)
    }

    private func handshake(_ target: WebSocketURL, _ headers: HTTPFields) throws -> ClientHandshake {
        if options.requiresSubprotocol && options.subprotocols.isEmpty {
            let message = "A subprotocol is required, and none is offered: see WebSocketOptions.subprotocols."
            throw WebSocketError(.invalidRequest, message: message)
        }
        var random = SystemRandomNumberGenerator()
        do {
            return try ClientHandshake(
                url: target,
                subprotocols: options.subprotocols,
                headers: headers,
                extensions: options.compression.negotiation?.offers.map(\.extensionOffer) ?? [],
                key: (0..<AcceptKey.nonceSize).map { _ in UInt8.random(in: .min ... .max, using: &random) },
                limits: options.handshakeLimits,
                digest: SHA1.digest
            )
        } catch {
            throw WebSocketError(.invalidRequest, message: "The request can't be made.", cause: error)
        }
    }

    private func connect(
        _ plan: HandshakePlan,
        _ onStage: StageTeller.Callback?,
        _ make: @escaping @Sendable (LoopBound<Channel>, ConnectTimeline) -> HandshakeDriver
    ) async throws -> HandshakeDriver {
        let target = plan.target
        var connecting = options.connectOptions
        connecting.timeout = loop.clock.now().duration(to: deadline)
        connecting.onStage = onStage
        do {
            // The requests before it may have taken all of the time.
            guard connecting.timeout > .zero else {
                throw SocketError(.timedOut, message: "The time was over before the connection was begun.")
            }
            return try await Connector.connect(to: target.endpoint, on: loop, options: connecting, make: make)
        } catch let error as SocketError {
            let code: WebSocketError.Code = error.code == .timedOut ? .timedOut : .cannotConnect
            var described = WebSocketError(code, message: "\(target) can't be reached.", cause: error)
            var progress = progress(plan)
            progress.connecting = error.timeline
            described.timeline = progress.timeline(HandshakeTimeline.Stage(error))
            throw described
        }
    }
}

extension WebSocketURL {
    /// Where its server is connected to.
    fileprivate var endpoint: Endpoint {
        if let unixPath { return .unix(unixPath) }
        let host = host + (zone.map { "%" + $0 } ?? "")
        return isSecure ? .tls(host, port: port) : .host(host, port: port)
    }
}

extension WebSocketError {
    /// How far the attempt came; `nil` unless connecting failed.
    package var stage: HandshakeTimeline.Stage? { timeline?.stage }

    /// The status of the answer that refused the connection: the server's, or an HTTP proxy's.
    public var status: HTTPResponse.Status? { handshake?.status ?? proxy?.status }

    /// The fields of that answer.
    public var headers: HTTPFields? { handshake?.headers ?? proxy?.headers }

    /// The first 64 KiB of the body of the server's answer; empty without one.
    public var body: [UInt8] { handshake?.body ?? [] }

    /// What to try next, in plain words; `nil` if nothing is known.
    public var hint: String? {
        if proxy?.code == .unauthorized { return "the proxy wants credentials, or others: see WebSocketOptions.proxy" }
        if let below = cause as? SocketError {
            return below.isOfPlainPeer ? "the port doesn't speak TLS: use ws" : below.hint
        }
        guard let handshake, let hint = handshake.hint else { return nil }
        if handshake.isUnfollowedRedirect { return hint + ": see WebSocketOptions.redirects" }
        if handshake.isOfMissingOrigin { return hint + ": see WebSocketOptions.origin and authentication" }
        return handshake.status?.code == 401 ? hint + ": see WebSocketOptions.authentication" : hint
    }

    /// The refusal of a proxy.
    package var proxy: ProxyError? { (cause as? SocketError)?.proxyFailure as? ProxyError }
}

/// What is known of an attempt so far, from which its timeline is made at any time.
struct HandshakeProgress: Sendable {
    let began: Instant
    /// Where the time comes from, the loop's.
    let clock: LoopClock
    let requests: Int
    let span: HandshakeSpan?
    /// How the connection for the latest request was made.
    var connecting: ConnectTimeline?
    /// What TLS with the server came to.
    var security: HandshakeTimeline.Security?
    /// Whether the server has asked for a certificate and got none.
    var lacksCertificate = false

    init(began: Instant, clock: LoopClock = .system, requests: Int, span: HandshakeSpan? = nil) {
        self.began = began
        self.clock = clock
        self.span = span
        self.requests = requests
    }

    /// The address that was connected to: the server's, or its proxy's.
    var remoteAddress: SocketAddress? { connecting?.attempts.first { $0.outcome == .connected }?.address }

    /// The same with a connection.
    func connected(_ timeline: ConnectTimeline, _ connection: TLSInfo?) -> HandshakeProgress {
        var progress = self
        progress.connecting = timeline
        // A channel in the clear behind a proxy is secured up to that alone.
        if timeline.tls != nil {
            progress.security = HandshakeTimeline.Security(connection)
            progress.lacksCertificate = connection?.lacksCertificate ?? false
        }
        return progress
    }

    /// What has happened up to now.
    func timeline(
        _ stage: HandshakeTimeline.Stage,
        upgrade: Duration? = nil,
        isOpen: Bool = false
    ) -> HandshakeTimeline {
        HandshakeTimeline(
            stage,
            began: began,
            connecting: connecting,
            security: security,
            upgrade: upgrade,
            isOpen: isOpen,
            requests: requests,
            total: began.duration(to: clock.now())
        )
    }
}

// MARK: What the requests are made of

/// What the requests of one attempt are made of: it changes from a redirect or a challenge to the next.
struct HandshakePlan: Sendable {
    /// Where the next request goes.
    private(set) var target: WebSocketURL
    /// How many requests were made.
    private(set) var requests = 0

    private let options: WebSocketOptions
    private var authenticator: Authenticator?
    private var redirects = 0
    /// Whether a redirect led to another server, which gets none of the caller's fields; not even if it leads back.
    private var hasLeft = false

    /// The most requests that challenges can lead to, redirects not counted.
    private static let challengeBound = 4
    private var challenges = 0

    init(_ target: WebSocketURL, _ options: WebSocketOptions) {
        self.target = target
        self.options = options
        switch options.authentication.kind {
        case .password(let credentials, let schemes):
            authenticator = Self.authenticator(credentials, schemes)
        case .none:
            authenticator = target.userInfo.flatMap(PasswordCredentials.init(userInfo:)).map {
                Self.authenticator($0, .basic)
            }
        case .bearer: break
        }
    }

    private static func authenticator(
        _ credentials: PasswordCredentials,
        _ schemes: Authenticator.Schemes
    ) -> Authenticator {
        Authenticator(credentials, schemes: schemes, digest: HTTPDigest.digest, nonce: HTTPDigest.nonce)
    }

    /// The bearer token's source, if the next request has one.
    var token: (@Sendable () async throws -> String)? {
        guard !hasLeft, !options.headers.contains(.authorization), case .bearer(let token) = options.authentication.kind
        else { return nil }
        return token
    }

    /// The fields of the next request: the caller's, and of ours those that they don't replace.
    ///
    /// The caller's are for the server of the URL alone: any of them may hold a secret.
    mutating func headers(token: String?) -> HTTPFields {
        requests += 1
        var headers = hasLeft ? [:] : options.headers
        func add(_ name: HTTPField.Name, _ value: String?) {
            guard let value, !headers.contains(name) else { return }
            headers[name] = value
        }
        add(.userAgent, options.userAgent)
        add(.origin, options.origin?.value(for: target))
        add(.cookie, options.cookies?.value(for: target))
        if !hasLeft && !headers.contains(.authorization) {
            add(.authorization, token.map { "Bearer " + $0 } ?? authorization())
        }
        return headers
    }

    private mutating func authorization() -> String? {
        authenticator?.value(method: "GET", target: target.requestTarget)
    }

    /// Takes note of a refusal.
    ///
    /// - Returns: whether another request is to be made.
    /// - Throws: the same refusal with a hint, when it is a redirect that may not be followed.
    mutating func follow(_ refusal: HandshakeError) throws(HandshakeError) -> Bool {
        guard refusal.code == .refused, let status = refusal.status, let headers = refusal.headers else { return false }
        options.cookies?.take(headers[values: .setCookie], from: target)
        if status.code == 401 { return challenged(headers) }
        if options.redirects == 0 { return false }
        switch Redirect(from: target, status: status, headers: headers) {
        case .none: return false
        case .refused(let reason): throw refusal.with(hint: reason)
        case .follow(let next):
            guard redirects < options.redirects else {
                throw refusal.with(hint: "\(redirects) redirects were followed, and no more may be")
            }
            redirects += 1
            if !next.hasSameOrigin(as: target) { hasLeft = true }
            target = next
            return true
        }
    }

    private mutating func challenged(_ headers: HTTPFields) -> Bool {
        guard !hasLeft, challenges < Self.challengeBound, !options.headers.contains(.authorization) else {
            return false
        }
        challenges += 1
        let found = AuthenticationChallenge.parse(headers[values: .wwwAuthenticate])
        return authenticator?.challenged(found) == true
    }
}

// MARK: A token from the app

/// A token that is asked for, with a deadline that holds even where whoever is asked doesn't heed it.
actor TokenRequest {
    private nonisolated let loop: EventLoop
    private var waiter: Waiter<String>?
    private var result: Result<String, any Error>?
    private var timer: TimerID?
    private var task: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Asks for a token.
    ///
    /// - Parameters:
    ///   - deadline: when it is given up.
    ///   - token: gives it; runs wherever it likes.
    /// - Returns: the token.
    /// - Throws: what `token` threw; ``WebSocketError`` when the time is over; `CancellationError`.
    func run(
        until deadline: Instant,
        _ token: @escaping @Sendable () async throws -> String
    ) async throws -> String {
        task = Task.detached {
            let result: Result<String, any Error>
            do {
                result = .success(try await token())
            } catch {
                result = .failure(error)
            }
            await self.end(result)
        }
        loop.execute { [self] core in
            let timer = core.schedule(self, at: deadline)
            assumeIsolated { $0.armed(timer) }
        }
        return try await waitOnLoop { waiter in
            if let result { waiter.resume(with: result) } else { self.waiter = waiter }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.end(.failure(CancellationError())) } }
        }
    }

    private func armed(_ timer: TimerID) {
        if result == nil { self.timer = timer } else { disarm(timer) }
    }

    private func disarm(_ timer: TimerID) {
        loop.execute { core in core.cancel(timer) }
    }

    private func end(_ outcome: Result<String, any Error>) {
        guard result == nil else { return }
        result = outcome
        task?.cancel()
        task = nil
        if let timer { disarm(timer) }
        timer = nil
        if let waiter {
            self.waiter = nil
            waiter.resume(with: outcome)
        }
    }
}

extension TokenRequest: TimerTarget {
    nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop) { request, _ in
            request.timer = nil
            request.end(.failure(WebSocketError(.timedOut, message: "The bearer token didn't come in time.")))
        }
    }
}
