// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import Testing

@testable import DuplexWire

@Suite("Messages that are sent in pieces (RFC 6455 section 5.4)")
struct SessionPieceSendingTests {
    @Test("Each piece is a frame, with control frames between them", arguments: bothRoles)
    func frames(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.begin(.binary, compress: true), .piece([1, 2], isLast: false), .ping)
        conversation.receive(.ping("p"))
        conversation.perform(.piece([3], isLast: false), .piece([], isLast: true), .send("next"))
        conversation.expect(
            .sent(PeerFrame.binary([1, 2]).unfinished),
            .sent(.ping("\0\0\0\0\0\0\0\u{1}")),
            .ping,
            .sent(.pong(Array("p".utf8))),
            .sent(PeerFrame.continuation([3]).unfinished),
            .sent(.continuation([])),
            .sent(.text("next"))
        )
    }

    @Test("A message of one piece is one frame, an empty one too", arguments: bothRoles)
    func single(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.begin(.text, compress: false), .piece(Array("all".utf8), isLast: true))
        conversation.perform(.begin(.binary, compress: false), .piece([], isLast: true))
        conversation.expect(.sent(.text("all")), .sent(.binary([])))
    }

    @Test("Pieces may cut characters; what isn't text isn't sent, and the message can go on", arguments: bothRoles)
    func text(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.begin(.text, compress: false), .piece([0xE2, 0x82], isLast: false))
        conversation.perform(.piece([0xFF], isLast: false), .piece([], isLast: true), .piece([0xAC], isLast: true))
        conversation.expect(
            .sent(PeerFrame.text([0xE2, 0x82]).unfinished),
            .wrongPiece(1),
            .wrongPiece(0),
            .sent(.continuation([0xAC]))
        )
    }

    @Test("Behind a close frame nothing is sent, and without a beginning neither", arguments: bothRoles)
    func closed(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.piece([9], isLast: false), .begin(.binary, compress: false), .piece([1], isLast: false))
        conversation.perform(.close(.internalError, ""), .piece([2], isLast: true))
        conversation.expect(
            .wrongPiece(1),
            .sent(PeerFrame.binary([1]).unfinished),
            .sent(.close(1_011)),
            .wrongPiece(1)
        )
    }

    @Test("Compressed pieces are one message, whose first frame alone says so", arguments: bothRoles)
    func compressed(role: WebSocketSession.Role) {
        for takesOver in [true, false] {
            var conversation = Conversation(role)
            var agreement = DeflateAgreement()
            agreement.clientNoContextTakeover = !takesOver
            agreement.serverNoContextTakeover = !takesOver
            conversation.deflate = agreement
            for _ in 0..<2 {
                conversation.perform(.begin(.text, compress: true), .piece(Array("Hello, Hello".utf8), isLast: false))
                conversation.perform(.piece(Array(", Hello".utf8), isLast: false), .piece([], isLast: true))
            }
            let frames = conversation.run().seen.compactMap { if case .sent(let frame) = $0 { frame } else { nil } }
            #expect(frames.map(\.reservedBits) == [0x40, 0, 0, 0x40, 0, 0])
            #expect(frames.map(\.isFinal) == [false, false, true, false, false, true])
            var back = Conversation(role == .client ? .server : .client)
            back.deflate = agreement
            back.receive(frames)
            back.expect(.text("Hello, Hello, Hello"), .text("Hello, Hello, Hello"))
        }
    }

    @Test("A message of which nothing was written can be abandoned, another can't")
    func abandoned() {
        let session = WebSocketSession(role: .server, now: Instant(nanoseconds: 0))
        session.beginMessage(.binary)
        #expect(session.isMidSending && !session.hasSentPiece)
        session.abandonMessage()
        #expect(!session.isMidSending)
        session.beginMessage(.binary)
        let isWritten = session.writePiece([1].span.raw, isLast: false) { _, _ in }
        session.abandonMessage()
        #expect(isWritten && session.isMidSending && session.hasSentPiece)
    }

    @Test("A piece that was compressed was written, and says so", arguments: bothRoles)
    func compressedIsWritten(role: WebSocketSession.Role) {
        let compression = DeflatePool().compression(DeflateAgreement(), role: role, settings: .init())
        let session = WebSocketSession(
            role: role,
            maskingKeys: MaskingKeys { 1 },
            compression: compression,
            now: Instant(nanoseconds: 0)
        )
        session.beginMessage(.text)
        var frames = 0
        for isLast in [false, true] {
            let piece = Array("Hello, Hello".utf8)
            let isWritten = session.writePiece(piece.span.raw, isLast: isLast) { _, _ in frames += 1 }
            #expect(isWritten)
        }
        #expect(frames == 2)
    }
}
