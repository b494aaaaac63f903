// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Logging

/// One connection while it speaks HTTP: parses requests, has them answered one at a time in their order, and hands
/// itself over to a WebSocket when a request asks for one (RFC 9112).
///
/// Belongs to its loop's thread. A handler runs as a task of the loop and comes back with ``respond(_:)``.
final class HTTPConnection {
    let channel: Channel
    let remoteAddress: SocketAddress?
    let server: ServerLoop
    let accepted: MonotonicInstant
    /// When the request had come that asks for a WebSocket.
    var asked: MonotonicInstant?
    /// The span of that handshake, where there is a tracer.
    var span: HandshakeSpan?
    var stage = Stage.head
    private var parser: RequestHeadParser
    /// The request whose head has come and that isn't answered yet.
    private var exchange: Exchange?
    /// Bytes that came while a request was being answered: the next ones, pipelined.
    var pending: [UInt8] = []
    private var timer: TimerID?
    private(set) var hasInputEnded = false
    private var mustClose = false
    private var isParsing = false

    /// A request on its way in.
    ///
    /// An object of its own, because most connections wait for one most of the time.
    private final class Exchange {
        let head: RequestHead
        var decoder: BodyDecoder?
        var pace: BodyPace?
        var body: [UInt8] = []

        init(_ head: RequestHead) {
            self.head = head
        }
    }

    enum Stage {
        /// Waiting for a request, or in the middle of its head.
        case head
        case body
        /// A handler is at work; nothing is read.
        case answering
        /// Responses wait to be sent; the next request is taken when they are.
        case draining
        /// The last response is on its way; what arrives is thrown away until the peer ends the stream.
        case lingering
        /// Handed over to a WebSocket, or closed.
        case over
    }

    /// How long a client may go on sending after the response that ends the connection.
    private static let lingerTime = Duration.seconds(2)
    /// Read at once while the protocol is HTTP; what is pipelined behind a request waits here meanwhile.
    private static let receiveLimit = 64 * 1_024

    init(server: ServerLoop, channel: Channel, remoteAddress: SocketAddress?) {
        self.server = server
        self.channel = channel
        self.remoteAddress = remoteAddress
        accepted = channel.core.now
        parser = RequestHeadParser(limits: server.server.limits)
    }

    func start() {
        channel.handler = self
        channel.limitReceive(to: Self.receiveLimit)
        channel.isReading = true
        // A client that connects and says nothing has as long as one that is slow.
        arm(server.server.limits.headTime)
    }

    /// The server ends: a connection without a request is closed, one with a request is after its response.
    func stop() {
        mustClose = true
        if stage == .head && !parser.isMidHead { finish() }
    }

    /// The server ends and waits no longer.
    func abort() {
        channel.reset()
        finish()
    }

    // MARK: Requests

    private func take(_ bytes: Span<UInt8>) {
        var position = 0
        isParsing = true
        defer { isParsing = false }
        while position < bytes.count && (stage == .head || stage == .body) {
            do throws(HTTPError) {
                try step(bytes, &position)
            } catch {
                refuse(error)
                return
            }
        }
        if (stage == .answering || stage == .draining) && position < bytes.count { keep(bytes, from: position) }
    }

    /// Behind what was at hand: waits for the next request, or ends where none can come whole.
    private func settle() {
        guard stage == .head || stage == .body else { return }
        if hasInputEnded {
            finish()
            return
        }
        if stage == .head && !parser.isMidHead { arm(server.server.idleTimeout) }
        channel.isReading = true
    }

    private func keep(_ bytes: Span<UInt8>, from position: Int) {
        pending.reserveCapacity(bytes.count - position)
        for index in position..<bytes.count { pending.append(bytes[index]) }
        channel.isReading = false
    }

    private func step(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) {
        if stage == .head {
            let wasIdle = !parser.isMidHead
            guard let head = try parser.parse(bytes, from: &position) else {
                if wasIdle && parser.isMidHead { arm(server.server.limits.headTime) }
                return
            }
            try begin(head, bytes, &position)
        } else {
            try decodeBody(bytes, &position)
        }
    }

    private func begin(_ head: RequestHead, _ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) {
        let exchange = Exchange(head)
        self.exchange = exchange
        if case .none = head.framing {
            dispatch(exchange, bytes, &position)
            return
        }
        exchange.decoder = try BodyDecoder(head.framing, limits: server.server.limits)
        let pace = BodyPace(limits: server.server.limits, now: Instant(channel.core.now))
        exchange.pace = pace
        stage = .body
        arm(until: MonotonicInstant(pace.deadline))
        if head.expectsContinue && position == bytes.count { writeContinue() }
        try decodeBody(bytes, &position)
    }

    private func decodeBody(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPError) {
        guard let exchange else { return }
        let before = position
        let isComplete = try exchange.decoder?.decode(bytes, from: &position, into: &exchange.body) ?? true
        if isComplete {
            dispatch(exchange, bytes, &position)
        } else if position > before {
            exchange.pace?.received(position - before, now: Instant(channel.core.now))
            if let pace = exchange.pace { arm(until: MonotonicInstant(pace.deadline)) }
        }
    }

    private func dispatch(_ exchange: Exchange, _ bytes: Span<UInt8>, _ position: inout Int) {
        disarm()
        let head = exchange.head
        switch server.server.routes.decide(head, isUpgrade: ServerHandshake.isUpgrade(head)) {
        case .refuse(let response):
            stage = .answering
            respond(response)
        case .upgrade where server.isStopping:
            stage = .answering
            respond(Self.endingSoon)
        case .upgrade(let endpoint, let parameters):
            let request = Request(head: head, parameters: parameters, body: [], remoteAddress: remoteAddress)
            upgrade(request, endpoint, bytes, &position)
        case .respond(let handler, let parameters):
            answer(exchange, parameters, handler)
        }
    }

    private func answer(
        _ exchange: Exchange,
        _ parameters: [String: String],
        _ handler: @escaping Routes.Handler
    ) {
        stage = .answering
        let request = Request(
            head: exchange.head,
            parameters: parameters,
            body: exchange.body,
            remoteAddress: remoteAddress
        )
        exchange.body = []
        let connection = LoopBound(self, on: server.loop.thread)
        let logger = server.server.logger
        server.spawn {
            do {
                let response = try await handler(request)
                connection.value.respond(response)
            } catch is CancellationError {
                connection.value.respond(.problem(.serviceUnavailable, "The request was cancelled: the server ends."))
            } catch {
                logger.error("a request failed", metadata: ["path": "\(request.path)", "error": "\(error)"])
                connection.value.respond(.problem(.internalServerError, "The server failed to answer this request."))
            }
        }
    }

    // MARK: Responses

    /// Sends the response to the request that is being answered, and goes on to the next one.
    func respond(_ response: Response) {
        guard stage == .answering, let head = exchange?.head else { return }
        let isLast = mustClose || !head.keepsAlive || server.isStopping
        var response = response
        // A client of HTTP/1.0 takes it that the connection ends unless it is told (RFC 9112 appendix C.2.2).
        if !isLast && head.version < .http11 { response.fields[.connection] = "keep-alive" }
        write(response, to: head.method, isLast: isLast)
        exchange = nil
        if isLast {
            linger()
        } else if channel.isAboveHighWaterMark {
            // A client that sends requests and doesn't read the responses gets no more of them.
            stage = .draining
            arm(server.server.idleTimeout)
        } else if isParsing {
            // Refused as soon as it was read: the loop that reads goes on by itself.
            stage = .head
        } else {
            next()
        }
    }

    /// Goes on with what was pipelined, or waits for the next request.
    private func next() {
        stage = .head
        let bytes = pending
        pending = []
        take(bytes.span)
        settle()
    }

    private func refuse(_ error: HTTPError) {
        write(.problem(error.status, error.message), to: exchange?.head.method ?? .get, isLast: true)
        linger()
    }

    private func write(_ response: Response, to method: HTTPRequest.Method, isLast: Bool) {
        var head = ResponseHead(status: response.status, fields: response.fields)
        if isLast { head.fields[.connection] = "close" }
        let hasBody = response.status.code >= 200 && response.status != .noContent && response.status != .notModified
        if hasBody { head.fields[.contentLength] = String(response.body.count) }
        var bytes: [UInt8] = []
        head.write(to: &bytes, date: HTTPDate.now())
        if hasBody && method != .head { bytes += response.body }
        channel.write(bytes.span.raw)
    }

    private func writeContinue() {
        var bytes: [UInt8] = []
        ResponseHead(status: .continue).write(to: &bytes)
        channel.write(bytes.span.raw)
    }

    // MARK: Time and the end

    private func arm(_ duration: Duration) {
        arm(until: channel.core.now.advanced(by: duration))
    }

    private func arm(until deadline: MonotonicInstant) {
        disarm()
        timer = channel.core.schedule(self, at: deadline)
    }

    private func disarm() {
        if let timer { channel.core.cancel(timer) }
        timer = nil
    }

    /// Ends the outgoing stream behind the last response, and gives the client a moment to read it: closing with bytes
    /// unread would reset the connection and might take the response with it.
    private func linger() {
        stage = .lingering
        pending = []
        channel.finishWriting()
        if hasInputEnded {
            finish()
            return
        }
        channel.isReading = true
        arm(Self.lingerTime)
    }

    func finish() {
        guard stage != .over else { return }
        stage = .over
        disarm()
        channel.closeWhenSent(within: server.server.closeTimeout)
        server.remove(self)
    }
}

extension HTTPConnection: ChannelHandler {
    func received(_ bytes: inout MutableRawSpan) {
        guard stage != .lingering else { return }
        bytes.bytes.withOctets { take($0) }
        settle()
    }

    func inputEnded() {
        hasInputEnded = true
        // A request that is being answered is answered: the client may have ended its side only.
        if stage != .answering && stage != .draining { finish() }
    }

    func outputDrained() {
        guard stage == .draining else { return }
        disarm()
        next()
    }

    func failed(_ error: SocketError) {
        guard stage != .over else { return }
        stage = .over
        disarm()
        server.remove(self)
    }
}

extension HTTPConnection: TimerTarget {
    func timerFired(_ timer: TimerID, now: MonotonicInstant) {
        guard timer == self.timer else { return }
        self.timer = nil
        switch stage {
        case .head where parser.isMidHead, .body:
            refuse(HTTPError(.timeout, "The request did not arrive in time."))
        case .draining:
            channel.reset()
            finish()
        case .head, .lingering: finish()
        case .answering, .over: break
        }
    }
}
