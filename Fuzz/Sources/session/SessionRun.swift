// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

@testable import DuplexWire

/// An event whose payload has been copied out, so that it can be compared.
enum Seen: Equatable {
    case text(String)
    case binary([UInt8])
    /// The pieces of a message that came one behind the other, put together: where they are cut differs by the split.
    case pieces(Message.Kind, [UInt8], isFirst: Bool, isLast: Bool)
    case ping
    case pong(UInt64)
    case unaskedPong([UInt8])
    case peerClose
    case violation(WebSocketProtocolError)

    var payloadSize: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        case .pieces(_, let bytes, _, _): bytes.count
        default: 0
        }
    }

    /// Whether nothing may follow.
    var isLast: Bool {
        switch self {
        case .peerClose, .violation: true
        default: false
        }
    }
}

/// All that can be told about a run.
struct Outcome: Equatable {
    var events: [Seen] = []
    var output: [UInt8] = []
    var report: CloseReport?
    var state = WebSocketSession.State.open
}

/// A session with an owner that does what it is told to.
final class SessionRun {
    private let session: WebSocketSession
    private let limits: MessageLimits
    private let sendsAtOnce: Bool
    private let now = Instant(nanoseconds: 0)
    private var outcome = Outcome()
    /// What has come of a message in pieces that isn't over.
    private var begun: [UInt8]?

    init(options: UInt8) {
        limits = options & 2 != 0 ? MessageLimits.internet.with(messageSize: 64).with(fragments: 3) : .internet
        sendsAtOnce = options & 4 != 0
        session = WebSocketSession(
            role: options & 1 != 0 ? .client : .server,
            limits: limits,
            maskingKeys: MaskingKeys { 0x1234_5678 },
            now: now
        )
        if options & 32 != 0 { session.streamMessages(limit: limits.messageSize) }
        if options & 8 != 0 { session.close(.goingAway, reason: "early", now: now) }
        if options & 16 != 0 { _ = session.ping(now: now) }
    }

    func receive(_ piece: [UInt8]) {
        var bytes = piece
        var span = bytes.mutableSpan
        // Any byte may be read and written as raw bytes.
        var raw = unsafe span.mutableBytes
        var position = 0
        while let event = session.nextEvent(in: &raw, at: &position, now: now) {
            note(seen(event, raw.bytes))
            if sendsAtOnce { sendControlOutput() }
        }
        require(position == piece.count, "the session left \(piece.count - position) bytes")
    }

    private func note(_ event: Seen) {
        require(outcome.events.last?.isLast != true, "\(event) came after the last event there can be")
        require(event.payloadSize <= limits.messageSize.bytes, "a message is longer than allowed")
        if case .pieces(let kind, let bytes, let isFirst, let isLast) = event {
            note(kind, bytes, isFirst: isFirst, isLast: isLast)
        } else {
            outcome.events.append(event)
        }
    }

    private func note(_ kind: Message.Kind, _ bytes: [UInt8], isFirst: Bool, isLast: Bool) {
        require(isFirst == (begun == nil), "a message begins within another, or goes on without a beginning")
        require(!bytes.isEmpty || isLast, "a piece is empty that isn't the last")
        require(bytes.count <= MessagePiece.largest, "a piece is longer than the largest")
        let soFar = (begun ?? []) + bytes
        require(soFar.count <= limits.messageSize.bytes, "a message in pieces is longer than allowed")
        if isLast && kind == .text { require(String(validating: soFar, as: UTF8.self) != nil, "a text isn't UTF-8") }
        begun = isLast ? nil : soFar
        // Control frames between the pieces stand where they came.
        if !isFirst, case .pieces(kind, let before, let first, false) = outcome.events.last {
            outcome.events[outcome.events.count - 1] = .pieces(kind, before + bytes, isFirst: first, isLast: isLast)
        } else {
            outcome.events.append(.pieces(kind, bytes, isFirst: isFirst, isLast: isLast))
        }
    }

    private func seen(_ event: WebSocketSession.Event, _ input: RawSpan) -> Seen {
        switch event {
        case .message(let kind, let payload): message(kind, bytes(payload, input))
        case .piece(let piece):
            .pieces(piece.kind, bytes(piece.payload, input), isFirst: piece.isFirst, isLast: piece.isLast)
        case .ping: .ping
        case .pong(let id, _): .pong(id)
        case .unaskedPong: .unaskedPong(session.controlPayload)
        case .peerClose: .peerClose
        case .violation(let error): .violation(error)
        }
    }

    private func bytes(_ payload: WebSocketSession.Payload, _ input: RawSpan) -> [UInt8] {
        switch payload {
        case .input(let range): range.map { unsafe input.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        case .assembled(let bytes): bytes
        }
    }

    private func message(_ kind: Message.Kind, _ bytes: [UInt8]) -> Seen {
        if kind == .binary { return .binary(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else { fatalError("a text isn't UTF-8: \(bytes)") }
        return .text(text)
    }

    /// Ends the connection as its owner has to, and checks where that leads.
    func end() -> Outcome {
        switch outcome.events.last {
        case .peerClose: session.answerClose(now: now)
        case .violation(let error): session.fail(error, now: now)
        default: session.close(.normalClosure, now: now)
        }
        sendControlOutput()
        require(!session.canSend, "after a close frame nothing may be sent")
        session.endOfStream()
        outcome.report = session.report
        outcome.state = session.state
        require(outcome.state == .closed, "the end of the transport leaves the session \(outcome.state)")
        require(session.deadline == nil, "a closed session waits for something")
        return outcome
    }

    private func sendControlOutput() {
        let room = session.controlOutputSize
        require(room <= 18 * (FrameHeader.maximumSize + FrameHeader.maximumControlPayload), "too much waits to be sent")
        unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { block in
            var output = unsafe OutputRawSpan(buffer: block, initializedCount: 0)
            session.writeControlOutput(into: &output)
            let count = unsafe output.finalize(for: block)
            unsafe outcome.output += block.prefix(count)
        }
        require(!session.hasControlOutput, "something still waits after all was sent")
    }
}
