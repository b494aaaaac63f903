// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// The client's opening handshake over a connected channel, up to the open WebSocket (RFC 6455 section 4.1).
actor HandshakeDriver: EndsOnce {
    nonisolated let loop: EventLoop
    private nonisolated let channel: LoopBound<Channel>
    private let url: WebSocketURL
    private let options: WebSocketOptions
    private let handler: (any WebSocketHandler)?
    private let progress: HandshakeProgress
    private let stages: StageTeller?
    private var asked: Instant
    private var handshake: ClientHandshake
    var ending = AwaitedEnd<WebSocket>()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    init(
        _ url: WebSocketURL,
        _ options: WebSocketOptions,
        _ handshake: ClientHandshake,
        loop: EventLoop,
        channel: LoopBound<Channel>,
        handler: (any WebSocketHandler)?,
        progress: HandshakeProgress,
        stages: StageTeller? = nil
    ) {
        self.url = url
        self.options = options
        self.loop = loop
        asked = loop.clock.now()
        self.channel = channel
        self.handler = handler
        self.handshake = handshake
        self.progress = progress
        self.stages = stages
    }

    deinit {
        if ending.hasCome { return }
        let channel = channel
        loop.execute { _ in channel.value.reset() }
    }

    /// Sends the request and waits for the answer.
    func run(until deadline: Instant) async throws -> WebSocket {
        let channel = channel.value
        ending.mustCome(by: deadline, on: channel.core, or: self)
        asked = loop.clock.now()
        channel.handler = self
        stages?.begin(.upgrade, progress.remoteAddress)
        channel.isReading = true
        channel.write(handshake.requestBytes.span.raw)
        return try await awaitEnd()
    }

    private func take(_ bytes: Span<UInt8>) {
        guard !ending.hasCome else { return }
        var position = 0
        do throws(HandshakeError) {
            guard let result = try handshake.receive(bytes, from: &position) else { return }
            if options.compression.isRequired && result.deflate == nil { throw Self.declined(result.responseHead) }
            if options.requiresSubprotocol && result.subprotocol == nil {
                throw Self.declined(options.subprotocols, result.responseHead)
            }
            open(result, leftover: [UInt8](copying: bytes.raw.extracting(position..<bytes.count)))
        } catch {
            refused(error)
        }
    }

    private static func declined(_ head: ResponseHead) -> HandshakeError {
        HandshakeError(
            .compressionDeclined,
            "the server doesn't accept permessage-deflate, which is required",
            response: head,
            hint: "offer it instead, by WebSocketOptions.compression"
        )
    }

    private static func declined(_ subprotocols: [String], _ head: ResponseHead) -> HandshakeError {
        HandshakeError(
            .subprotocolDeclined,
            "the server chose none of the subprotocols \(subprotocols.joined(separator: ", ")), and one is required",
            response: head,
            hint: "it may not know them, or drop the field: see WebSocketOptions.requiresSubprotocol"
        )
    }

    private func open(_ result: ClientHandshake.Result, leftover: [UInt8]) {
        options.cookies?.take(result.responseHead.headers[values: .setCookie], from: url)
        var setup = WebSocketSetup(
            role: .client,
            limits: options.limits,
            settings: SessionSettings(
                limits: options.limits,
                pings: options.pings,
                closeTimeout: options.closeTimeout
            ),
            subprotocol: result.subprotocol,
            handler: handler.map { HandlerBox.make($0) },
            compression: AgreedCompression(result.deflate, options.compression)
        )
        setup.observation = options.observation
        let timeline = progress.timeline(.upgrade, upgrade: asked.duration(to: loop.clock.now()), isOpen: true)
        setup.observation?.handshake = timeline
        setup.observation?.url = url.withoutQuery
        setup.observation?.responseHeaders = result.responseHead.headers
        setup.observation?.span = progress.span?.opened(timeline, timeline.remoteAddress, result.subprotocol)
        setup.streamsMessages = options.streamsMessages && handler == nil
        setup.tellsControlFrames = options.tellsControlFrames
        stages?.end()
        let socket = WebSocket(loop: loop, channel: channel, setup: setup)
        socket.assumeIsolated { $0.start(leftover: leftover) }
        end(.success(socket))
    }

    private func refused(_ error: HandshakeError) {
        let status = error.code == .refused ? error.status : nil
        let message = status.map { "\($0.code) from \(url)" } ?? "\(url) didn't open a WebSocket."
        fail(WebSocketError(.handshakeRefused, message: message, cause: error))
    }

    private func streamEnded() {
        guard !ending.hasCome else { return }
        let error = handshake.finish()
        let isUnexplained = error.code == .connectionClosed && error.hint == nil && progress.lacksCertificate
        refused(isUnexplained ? error.with(hint: Self.noCertificate) : error)
    }

    private static let noCertificate =
        "the server asked for a client certificate, and this side has none: see WebSocketOptions.tls.identity"

    /// Ends the attempt before the answer has ended.
    ///
    /// If the answer's head has come and is a refusal, that is reported, with the part of its body that has arrived. A
    /// connection that is lost after bytes that aren't HTTP is reported as such, too: a server with TLS resets it
    /// behind its alert.
    private func cutShort(_ error: WebSocketError) {
        guard !ending.hasCome else { return }
        let answer = handshake.finish()
        let isExplained = error.code == .cannotConnect && answer.hint != nil
        if answer.code == .refused || isExplained { refused(answer) } else { fail(error) }
    }

    func fail(_ error: any Error) {
        guard !ending.hasCome else { return }
        var error = error
        if var described = error as? WebSocketError {
            described.timeline = progress.timeline(.upgrade, upgrade: asked.duration(to: loop.clock.now()))
            error = described
        }
        stages?.end(error)
        channel.value.reset()
        end(.failure(error))
    }

    private func end(_ result: Result<WebSocket, any Error>) {
        ending.come(result, on: channel.value.core)
    }
}

extension HandshakeDriver: ChannelHandler {
    nonisolated func received(_ bytes: inout MutableRawSpan) {
        onLoop(loop, &bytes) { driver, bytes in bytes.bytes.withOctets { driver.take($0) } }
    }

    nonisolated func inputEnded() {
        onLoop(loop) { driver, _ in driver.streamEnded() }
    }

    nonisolated func outputDrained() {}

    nonisolated func failed(_ error: SocketError) {
        onLoop(loop, error) { driver, error in
            let message = "\(driver.url) ended the connection during the handshake."
            driver.cutShort(WebSocketError(.cannotConnect, message: message, cause: error))
        }
    }
}

extension HandshakeDriver: TimerTarget {
    nonisolated func timerFired(_ timer: TimerID, now: Instant) {
        onLoop(loop, timer) { driver, timer in
            guard driver.ending.isDeadline(timer) else { return }
            let message = "\(driver.url) didn't answer the handshake within \(driver.options.connectTimeout.rounded)."
            driver.cutShort(WebSocketError(.timedOut, message: message))
        }
    }
}
