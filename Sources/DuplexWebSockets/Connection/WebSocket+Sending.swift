// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
public import DuplexWire

// From the app to bytes: whole messages, also compressed ones, and pings, framed by the session into the channel's output.

extension WebSocket {
    /// Sends a message.
    ///
    /// Returns once the message is sent or waits behind less than the high-water mark (64 KiB): a slow peer slows the
    /// sender down. Even for a fast peer it waits a moment every 1 MiB, so that others on the loop have their turn.
    /// Messages of several tasks stay whole and go out in the order of the calls. Cancelling ends the wait; the message
    /// is still sent.
    ///
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/closed`` once either side has begun to close, or with what
    ///   ended the connection; `CancellationError`.
    @inlinable
    @inline(__always)
    public nonisolated func send(_ message: Message) async throws {
        // Part of the function that calls it, and without a hop on the loop; see ``nextMessageOrError()`` for why.
        guard loop.isCurrent else { return try await sendFromElsewhere(message) }
        if try !writeHere(message) { try await waitForDrain() }
    }

    @usableFromInline
    func sendFromElsewhere(_ message: Message) async throws {
        if try !write(message) { try await waitForDrain() }
    }

    /// Writes a message on the loop's thread, which the caller has just found to be the present one; see ``write(_:)``.
    @usableFromInline
    nonisolated func writeHere(_ message: Message) throws -> Bool {
        try onPresentLoop(message) { try $0.write($1) }
    }

    /// Writes a message.
    ///
    /// - Returns: whether what waits is below the high-water mark.
    @usableFromInline
    func write(_ message: Message) throws -> Bool {
        try write(message, compress: nil)
    }

    /// Writes a message, compressed or not as the app says, if it says anything.
    @inline(__always)
    func write(_ message: Message, compress choice: Bool?) throws -> Bool {
        guard canSend else { throw notOpen() }
        if let streams, streams.writer != nil {
            if ending.cause != nil { throw notOpen() }
            return hold(message, choice, streams)
        }
        let isBelowMark =
            switch message {
            case .text(let text): write(text, choice)
            case .binary(let bytes): write(.binary, bytes.span.raw, to: channel, compress: choice)
            }
        if isBelowMark { return true }
        guard channel.canWrite else { throw notOpen() }
        return false
    }

    /// Sends a text message; see ``send(_:)-(Message)``.
    public nonisolated func send(_ text: String) async throws {
        try await send(.text(text))
    }

    /// Sends a binary message with the bytes of an array, or of a slice or another collection; see ``send(_:)-(Message)``.
    @inlinable
    public nonisolated func send(_ bytes: some Collection<UInt8> & Sendable) async throws {
        try await send(.binary([UInt8](bytes)))
    }

    /// Queues a message; for synchronous handlers.
    ///
    /// It is sent behind the messages of the same receive, or at the latest at the end of the loop's turn, as far as the peer takes
    /// it.
    ///
    /// The call never waits: when the result is false, stop sending until ``WebSocketHandler/becameWritable(_:)``, and watch
    /// ``queuedBytes`` to distinguish a slow peer, whose queue grows, from a turn in which much was sent. Once either
    /// side has begun to close, the message is dropped.
    ///
    /// - Parameters:
    ///   - bytes: the payload, copied before the call returns; of a text it must be UTF-8, which isn't checked again.
    ///   - kind: text or binary.
    /// - Returns: whether what waits is below the high-water mark (64 KiB), and no more than 1 MiB was sent at once in this
    ///   turn of the loop.
    @discardableResult
    public func enqueue(_ bytes: RawSpan, _ kind: Message.Kind) -> Bool {
        if let streams, streams.writer != nil { return hold(kind, bytes, nil, streams) }
        return write(kind, bytes, to: channel)
    }

    /// Whether what is sent now goes out: neither side has begun to close, and no send has failed.
    @inline(__always)
    var canSend: Bool { ending.isAttached && session.canSend && channel.canWrite }

    func notOpen() -> WebSocketError {
        if let loss = ending.loss { return lost(loss) }
        if let error = channel.sendError { return lost(error) }
        return WebSocketError(
            .closed,
            message: "The connection is closed or closing: \(session.report).",
            closeReport: session.report
        )
    }

    private func write(_ text: String, _ choice: Bool?) -> Bool {
        var text = text
        // Contiguous UTF-8 is what native strings have; only a bridged one is copied.
        text.makeContiguousUTF8()
        return write(.text, text.utf8.span.raw, to: channel, compress: choice)
    }

    /// Frames the payload; after a close frame the session writes nothing.
    ///
    /// - Returns: whether the channel sends it, and what waits is below the high-water mark.
    @inline(__always)
    @discardableResult
    func write(_ kind: Message.Kind, _ payload: RawSpan, to channel: Channel, compress choice: Bool? = nil) -> Bool {
        // The short way, in two calls: what most servers send.
        if payload.byteCount < Self.directSendSize, let header = session.shortHeader(kind, payload: payload.byteCount) {
            return channel.write(header.bytes, header.size, then: payload)
        }
        encode(kind, payload, to: channel, compress: choice)
        return channel.canWrite && !channel.isAboveHighWaterMark
    }

    /// The long way: what is compressed, masked, seen by a tap, or sent from where it lies.
    @inline(never)
    private func encode(_ kind: Message.Kind, _ payload: RawSpan, to channel: Channel, compress choice: Bool?) {
        if session.compression != nil, writeCompressed(kind, payload, choice, to: channel) { return }
        if payload.byteCount >= Self.directSendSize && !session.masksFrames && !session.isTapped {
            writeDirectly(kind, payload, to: channel)
            return
        }
        channel.write(capacity: FrameHeader.maximumSize + payload.byteCount) { output in
            session.encode(kind, payload, into: &output)
        }
    }

    /// Sends a payload from where it lies, behind its header: it needs no mask, so copying it would be for nothing.
    private func writeDirectly(_ kind: Message.Kind, _ payload: RawSpan, to channel: Channel) {
        // Behind a send that has failed nothing is counted that could be taken back.
        guard session.canSend, channel.canWrite else { return }
        channel.write(capacity: FrameHeader.maximumSize) { output in
            session.encodeHeader(kind, payload: payload.byteCount, into: &output)
        }
        channel.writeNow(payload)
        if channel.sendError != nil { session.takeBackSent(payload.byteCount) }
    }

    /// Writes the pongs, pings and close frames that the session has ready.
    ///
    /// A pong waits while the output is above the high-water mark, and the session keeps the latest only: a peer that
    /// pings and doesn't read makes nothing grow.
    func writeControlOutput() {
        guard session.hasControlOutput, !session.canSend || !channel.isAboveHighWaterMark else { return }
        channel.write(capacity: session.controlOutputSize) { output in
            session.writeControlOutput(into: &output)
        }
    }

    // MARK: Backpressure

    @usableFromInline
    func waitForDrain() async throws {
        let id = SocketWaiters.nextID()
        try await waitOnLoop(id: id) { (waiter: Waiter<Void>) in
            if !ending.isAttached || channel.sendError != nil {
                waiter.resume(throwing: notOpen())
            } else if !channel.isAboveHighWaterMark && !isHolding {
                waiter.resume(returning: ())
            } else if Task.isCancelled {
                waiter.resume(throwing: CancellationError())
            } else if let streams, isHolding {
                streams.heldSenders.append((streams.lastTicket, waiter))
            } else {
                // In this turn, or one more receive would be held beside what waits.
                if isHeldBack { updateReading() }
                keepSender(waiter)
            }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelSender(id) } }
        }
    }

    func cancelSender(_ id: UInt64) {
        if let sender = streams?.removeSender(id) { return sender.resume(with: .failure(CancellationError())) }
        takeSender(id)?.resume(with: .failure(CancellationError()))
    }

    func resumeSenders() {
        while let sender = takeSender() { sender.resume(with: .success(())) }
        writeControlOutput()
        follower?.becameWritable(self)
        if handler.isPresent {
            handler.becameWritable(self)
            channel.core.endStep(of: self)
        }
        // Behind a full inbox reading may have gone on, while nothing of what it brought was given.
        if ending.isTaking && (!channel.isReading || inbox.isAhead) { refill() }
    }

    // MARK: Pings

    /// Sends a ping and waits for its pong (RFC 6455 section 5.5.2).
    ///
    /// Of several on their way with the same payload, each pong answers the oldest.
    ///
    /// - Parameters:
    ///   - payload: what it carries, and its pong as well; cut at 125 bytes. Default: what tells it from other pings.
    ///   - timeout: how long to wait. Default: 20 s. The connection stays open after a timeout.
    /// - Returns: the time between the two.
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/timedOut``, or with what ended the connection;
    ///   `CancellationError`.
    public func ping(_ payload: [UInt8]? = nil, timeout: Duration = .seconds(20)) async throws -> Duration {
        try WebSocketError.check([DurationSetting("timeout", timeout)])
        let id = SocketWaiters.nextID()
        return try await waitOnLoop(id: id) { waiter in
            sendPing(waiter, payload, timeout)
        } onCancel: {
            loop.execute { _ in
                self.assumeIsolated { $0.endPing({ $0.waiter.id == id }, .failure(CancellationError())) }
            }
        }
    }

    private func sendPing(_ waiter: Waiter<Duration>, _ payload: [UInt8]?, _ timeout: Duration) {
        guard canSend else {
            waiter.resume(throwing: notOpen())
            return
        }
        if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
            return
        }
        let now = loop.clock.now()
        let id = session.ping(payload, now: now)
        let timer = channel.core.schedule(self, at: now.advanced(by: timeout))
        pings.append(PingWaiter(id: id, sent: now, timer: timer, waiter: waiter))
        writeControlOutput()
    }

    /// A pong answers its ping and those before it (RFC 6455 section 5.5.3).
    func answerPings(upTo id: UInt64, now: Instant) {
        while let ping = pings.first(where: { $0.id <= id }) {
            endPing({ $0.id == ping.id }, .success(ping.sent.duration(to: now)))
        }
    }

    func endPing(_ isMeant: (PingWaiter) -> Bool, _ result: Result<Duration, any Error>) {
        guard let index = pings.firstIndex(where: isMeant) else { return }
        let ping = pings.remove(at: index)
        channel.core.cancel(ping.timer)
        ping.waiter.resume(with: result)
    }

    // MARK: Compressed messages

    /// What the handshake has agreed on for compression; `nil` if messages aren't compressed.
    public var compression: DeflateAgreement? { session.compression?.agreement }

    /// How many messages were compressed in either direction, and what that has spared; `nil` if messages aren't
    /// compressed.
    package var compressionCounts: CompressionCounts? { session.compression?.counts }

    /// Sends a message, compressed or not whatever its length.
    ///
    /// Otherwise as ``send(_:)-(Message)``. The choice has no effect on a connection without compression. Without
    /// context takeover, a message that compression doesn't shorten is sent uncompressed.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - compress: whether to compress it; false for what is compressed already, and for secrets beside what an
    ///     attacker chooses (RFC 7692 section 8).
    /// - Throws: as ``send(_:)-(Message)``.
    public func send(_ message: Message, compress: Bool) async throws {
        if try !write(message, compress: compress) { try await waitForDrain() }
    }

    /// Queues a message as ``enqueue(_:_:)`` does, compressed or not whatever its length.
    ///
    /// - Parameters:
    ///   - bytes: the payload, copied before the call returns; of a text it must be UTF-8, which isn't checked again.
    ///   - kind: text or binary.
    ///   - compress: as in ``send(_:compress:)``.
    /// - Returns: whether more may be sent in this turn of the loop: as ``enqueue(_:_:)``.
    @discardableResult
    public func enqueue(_ bytes: RawSpan, _ kind: Message.Kind, compress: Bool) -> Bool {
        if let streams, streams.writer != nil { return hold(kind, bytes, compress, streams) }
        let channel = channel
        write(kind, bytes, to: channel, compress: compress)
        return channel.canWrite && !channel.isAboveHighWaterMark
    }

    /// Writes a message compressed.
    ///
    /// A function of its own, so that a connection without compression pays one comparison for it.
    ///
    /// - Returns: false if it is to be sent as it is.
    @inline(never)
    private func writeCompressed(
        _ kind: Message.Kind,
        _ payload: RawSpan,
        _ choice: Bool?,
        to channel: Channel
    ) -> Bool {
        session.compress(payload, choice) { deflated in
            channel.write(capacity: FrameHeader.maximumSize + deflated.byteCount) { output in
                session.encode(compressed: kind, deflated, into: &output)
            }
        }
    }
}

/// A message that is framed once, to be sent to many clients.
///
/// A server sends the same bytes to each client, from where they lie. To clients whose connections are compressed it goes
/// compressed, which is done once for each size of window, whatever they agreed on: without reference to earlier messages,
/// so that short ones shrink less. A client, and a connection with a tap, send it like any other message.
public struct PreparedMessage: Sendable {
    package let frame: MessageFrame

    /// Frames a message.
    public init(_ message: Message) {
        switch message {
        case .text(var text):
            text.makeContiguousUTF8()
            frame = MessageFrame(.text, text.utf8.span.raw)
        case .binary(let bytes):
            frame = MessageFrame(.binary, bytes.span.raw)
        }
    }

    /// Frames a payload, which is copied.
    ///
    /// - Parameters:
    ///   - bytes: the payload; of a text it must be UTF-8, which isn't checked again.
    ///   - kind: text or binary.
    public init(_ bytes: RawSpan, _ kind: Message.Kind) {
        frame = MessageFrame(kind, bytes)
    }

    /// Takes a frame over.
    package init(_ frame: MessageFrame) {
        self.frame = frame
    }

    /// Text or binary.
    package var kind: Message.Kind { frame.kind }

    /// What was framed.
    package var message: Message {
        Message(frame.kind, copying: frame.payload)
    }

    /// The length of the payload in bytes.
    package var byteCount: Int { frame.payload.byteCount }
}

extension WebSocket {
    /// Sends a message that was framed before; as ``send(_:)-(Message)`` otherwise.
    ///
    /// - Throws: as ``send(_:)-(Message)``.
    public func send(_ message: PreparedMessage) async throws {
        guard canSend else { throw notOpen() }
        if !enqueue(message) { try await waitForDrain() }
    }

    /// Sends a message that was framed before at once, as far as the system takes it, and queues the rest.
    ///
    /// For synchronous handlers, and for sending the same to many: nothing is copied where the system takes it all.
    /// Several of them in one turn to the same client are sent one by one. Once either side has begun to close, the
    /// message is dropped.
    ///
    /// - Parameter message: the message.
    /// - Returns: whether more may be sent in this turn of the loop: as ``enqueue(_:_:)``.
    @discardableResult
    public func enqueue(_ message: PreparedMessage) -> Bool {
        // In the middle of a message in pieces it waits, as every other does.
        if let streams, streams.writer != nil { return hold(message.kind, message.frame.payload, nil, streams) }
        let channel = channel
        if channel.canWrite, session.sends(message.frame) {
            channel.writeNow(message.frame.bytes.span.raw)
            if channel.sendError != nil { session.takeBackSent(message.byteCount) }
        } else if channel.canWrite, let bytes = session.sendsCompressed(message.frame) {
            channel.writeNow(bytes.span.raw)
            if channel.sendError != nil { session.takeBackSent(message.byteCount) }
        } else {
            write(message.kind, message.frame.payload, to: channel)
        }
        return channel.canWrite && !channel.isAboveHighWaterMark
    }

    /// Whether a message that is sent now is taken, and what waits is below the high-water mark.
    ///
    /// Where it isn't, ``SocketFollower/becameWritable(_:)`` follows, or the connection ends.
    package var takesMore: Bool { channel.canWrite && !isHolding && !channel.isAboveHighWaterMark }

    /// Sends at once what was gathered, as far as the system takes it.
    package func sendGathered() {
        if channel.queuedBytes > 0, !channel.isFull { channel.flush() }
    }

    /// Puts a message that was framed before behind what else waits, in one call with it.
    package func gather(_ message: PreparedMessage) {
        let channel = channel
        if streams?.writer == nil, channel.canWrite, session.sends(message.frame) {
            channel.write(message.frame.bytes.span.raw)
        } else if streams?.writer == nil, channel.canWrite, let bytes = session.sendsCompressed(message.frame) {
            channel.write(bytes.span.raw)
        } else {
            enqueue(message)
        }
    }
}
