// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate

@testable import DuplexWire

/// One run of a conversation, with what the peer sends in given pieces.
final class ConversationRun {
    private let session: WebSocketSession
    private let isMasked: Bool
    private var now = Instant(nanoseconds: 1_000)
    private var transcript = Conversation.Transcript()

    init(_ conversation: Conversation) {
        isMasked = conversation.role == .client
        session = WebSocketSession(
            role: conversation.role,
            limits: conversation.limits,
            pings: conversation.pings,
            closeTimeout: conversation.closeTimeout,
            maskingKeys: MaskingKeys { 0x4433_2211 },
            compression: conversation.deflate.map {
                // The settings of the examples in RFC 7692 section 7.2.3.
                let settings = Deflater.Settings(windowBits: 15)
                return DeflatePool().compression(
                    $0,
                    role: conversation.role,
                    settings: settings,
                    threshold: conversation.deflateThreshold
                )
            },
            now: now
        )
    }

    /// Does the steps in order.
    ///
    /// - Parameters:
    ///   - steps: what happens.
    ///   - pieces: all that the peer sends, cut anywhere; it is cut between two steps besides.
    /// - Returns: what was seen, and how it ended.
    func play(_ steps: [Conversation.Step], pieces: [[UInt8]]) -> Conversation.Transcript {
        var pieces = pieces[...]
        for step in steps {
            if case .receive(let bytes) = step {
                receive(bytes.count, &pieces)
            } else {
                perform(step)
            }
            sendControlOutput()
        }
        transcript.report = session.report
        transcript.state = session.state
        return transcript
    }

    private func receive(_ count: Int, _ pieces: inout ArraySlice<[UInt8]>) {
        var missing = count
        while missing > 0, let piece = pieces.popFirst() {
            deliver(Array(piece.prefix(missing)))
            let rest = Array(piece.dropFirst(missing))
            if !rest.isEmpty { pieces = [rest] + pieces }
            missing -= min(missing, piece.count)
        }
    }

    /// Hands a piece to the session until it has no more to say about it.
    func deliver(_ piece: [UInt8]) {
        var bytes = piece
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        var position = 0
        while let event = session.nextEvent(in: &raw, at: &position, now: now) {
            note(seen(event, raw.bytes))
        }
        if position != piece.count { transcript.seen.append(.stuck(position)) }
    }

    private func seen(_ event: WebSocketSession.Event, _ input: RawSpan) -> Seen {
        switch event {
        case .message(let kind, .input(let range)):
            message(kind, range.map { input.byte(at: $0) })
        case .message(let kind, .assembled(let bytes)): message(kind, bytes)
        case .piece(let piece): self.piece(piece, input)
        case .ping: .ping
        case .pong(let id, let roundTrip): .pong(id, roundTrip)
        case .unaskedPong: .unaskedPong(session.controlPayload)
        case .peerClose: .peerClose
        case .violation(let error): .violation(error)
        }
    }

    private func note(_ event: Seen) {
        if case .pieces(_, let bytes, false, let isLast) = event,
            case .pieces(let kind, let before, let isFirst, false) = transcript.seen.last
        {
            transcript.seen[transcript.seen.count - 1] =
                .pieces(kind, before + bytes, isFirst: isFirst, isLast: isLast)
        } else {
            transcript.seen.append(event)
        }
    }

    private func piece(_ piece: MessagePiece, _ input: RawSpan) -> Seen {
        let bytes =
            switch piece.payload {
            case .input(let range): range.map { input.byte(at: $0) }
            case .assembled(let bytes): bytes
            }
        if bytes.count > MessagePiece.largest || (bytes.isEmpty && !piece.isLast) { return .wrongPiece(bytes.count) }
        return .pieces(piece.kind, bytes, isFirst: piece.isFirst, isLast: piece.isLast)
    }

    private func message(_ kind: Message.Kind, _ bytes: [UInt8]) -> Seen {
        guard kind == .text else { return .binary(bytes) }
        return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .binary(bytes)
    }

    private func perform(_ step: Conversation.Step) {
        switch step {
        case .receive: break
        case .send(let message): send(message)
        case .begin(let kind, let compress): session.beginMessage(kind, compress: compress)
        case .piece(let bytes, let isLast): send(bytes, isLast)
        case .stream(let limit): session.streamMessages(limit: limit)
        case .ping: _ = session.ping(now: now)
        case .pingCarrying(let payload): _ = session.ping(payload, now: now)
        case .reset: session.reset()
        case .close(let code, let reason): session.close(code, reason: reason, now: now)
        case .answerClose: session.answerClose(now: now)
        case .fail(let error): session.fail(error, now: now)
        case .failAsSeen:
            for case .violation(let error) in transcript.seen { session.fail(error, now: now) }
        case .wait(let duration): now = now.advanced(by: duration)
        case .passDeadline: transcript.seen.append(.timeout(session.deadlinePassed(now: now)))
        case .lookAtDeadline: transcript.seen.append(.deadline(session.deadline))
        case .peerIsAlive: session.peerIsAlive(now: now)
        case .restartMessageTime: session.restartMessageTime(now: now)
        case .excuseMessage(let duration): session.excuseMessage(duration)
        case .endOfStream: session.endOfStream()
        }
    }

    private func send(_ message: Message) {
        switch message {
        case .text(let text): send(.text, Array(text.utf8))
        case .binary(let bytes): send(.binary, bytes)
        }
    }

    private func send(_ kind: Message.Kind, _ bytes: [UInt8]) {
        var compressed: [UInt8]?
        let isCompressed = session.compress(bytes.span.raw) { payload in
            compressed = written(room: session.encodedSize(payload: payload.byteCount)) {
                session.encode(compressed: kind, payload, into: &$0)
            }
        }
        if isCompressed {
            note(compressed ?? [])
            return
        }
        let room = session.encodedSize(payload: bytes.count)
        note(written(room: room) { session.encode(kind, bytes.span.raw, into: &$0) })
    }

    private func send(_ piece: [UInt8], _ isLast: Bool) {
        let isWritten = session.writePiece(piece.span.raw, isLast: isLast) { header, payload in
            note(
                written(room: session.encodedSize(payload: payload.byteCount)) {
                    session.encode(frame: header, payload, into: &$0)
                }
            )
        }
        if !isWritten { transcript.seen.append(.wrongPiece(piece.count)) }
    }

    private func sendControlOutput() {
        guard session.hasControlOutput else { return }
        note(written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) })
        if session.hasControlOutput { transcript.seen.append(.malformedOutput([])) }
    }

    private func note(_ output: [UInt8]) {
        if let frames = PeerFrame.read(output, isMasked: isMasked) {
            transcript.seen += frames.map { .sent($0) }
        } else {
            transcript.seen.append(.malformedOutput(output))
        }
    }
}
