// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

/// Both sides of a connection, for tables.
let bothRoles: [WebSocketSession.Role] = [.client, .server]

@Suite("Receiving messages")
struct SessionReceivingTests {
    @Test("A whole message arrives as it was sent", arguments: bothRoles)
    func wholeMessages(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.text("Grüße"), .binary([0, 0xFF, 7]), .text(""), .binary([]))
        conversation.expect(.text("Grüße"), .binary([0, 0xFF, 7]), .text(""), .binary([]))
    }

    @Test(
        "Payloads of the lengths at which the header changes arrive",
        arguments: bothRoles,
        [0, 1, 125, 126, 127, 65_535, 65_536, 65_537]
    )
    func lengths(role: WebSocketSession.Role, count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        let payload = generator.bytes(count)
        var conversation = Conversation(role)
        conversation.verifier = SplitVerifier(randomSplits: 4, positions: 200)
        if count > 1_000 { conversation.verifier = SplitVerifier(randomSplits: 2, positions: 4) }
        conversation.receive(.binary(payload), .text("next"))
        conversation.expect(.binary(payload), .text("next"))
    }

    @Test("A message of 1 MiB arrives, whatever the size of the reads", arguments: bothRoles, [777, 65_536, 2_000_000])
    func mebibyte(role: WebSocketSession.Role, read: Int) {
        var generator = SeededGenerator(seed: 20)
        let payload = generator.bytes(1 << 20)
        let input = PeerFrame.binary(payload).bytes(to: role)
        let pieces = stride(from: 0, to: input.count, by: read).map { Array(input[$0..<min($0 + read, input.count)]) }
        let transcript = ConversationRun(Conversation(role)).play([.receive(input)], pieces: pieces)
        #expect(transcript.seen == [.binary(payload)])
    }

    @Test("A masking key of zero is a key like any other")
    func zeroKey() {
        var conversation = Conversation(.server)
        conversation.receive(bytes: [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])
        conversation.expect(.text("hi"))
    }

    @Test("No more frames are begun at an instant than are allowed, and what is left comes later in its order")
    func boundedFrames() {
        let session = WebSocketSession(
            role: .client,
            settings: SessionSettings(frames: 2),
            maskingKeys: MaskingKeys { 1 },
            now: Instant(nanoseconds: 0)
        )
        var input: [UInt8] = [0x8A, 0, 0x8A, 0, 0x01, 1, 0x61, 0x00, 0, 0x00, 0, 0x80, 1, 0x62]
        var position = 0
        var seen: [String] = []
        for turn in 1...4 {
            var span = input.mutableSpan
            var raw = unsafe span.mutableBytes
            while let event = session.nextEvent(in: &raw, at: &position, now: Instant(nanoseconds: Int64(turn))) {
                switch event {
                case .unaskedPong: seen.append("pong")
                case .message(.text, .assembled(let bytes)): seen.append(String(decoding: bytes, as: UTF8.self))
                default: seen.append("\(event)")
                }
            }
            seen.append("\(position)")
        }
        #expect(seen == ["pong", "pong", "4", "9", "ab", "14", "14"])
    }

    // MARK: Fragments

    @Test("Fragments make one message", arguments: bothRoles)
    func fragments(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(
            PeerFrame.text("one ").unfinished,
            PeerFrame.continuation(Array("two ".utf8)).unfinished,
            .continuation(Array("three".utf8)),
            PeerFrame.binary([1]).unfinished,
            .continuation([2]),
            .text("whole")
        )
        conversation.expect(.text("one two three"), .binary([1, 2]), .text("whole"))
    }

    @Test("Empty fragments are fragments", arguments: bothRoles)
    func emptyFragments(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(
            PeerFrame.text("").unfinished,
            PeerFrame.continuation([]).unfinished,
            .continuation([]),
            PeerFrame.text("a").unfinished,
            PeerFrame.continuation([]).unfinished,
            .continuation(Array("b".utf8)),
            PeerFrame.binary([]).unfinished,
            .continuation([3])
        )
        conversation.expect(.text(""), .text("ab"), .binary([3]))
    }

    @Test("Control frames may stand between fragments, and come first", arguments: bothRoles)
    func interleaved(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(
            PeerFrame.text("one ").unfinished,
            .ping("a"),
            .pong([1]),
            PeerFrame.continuation([]).unfinished,
            .ping("b"),
            .continuation(Array("two".utf8))
        )
        conversation.expect(.ping, .unaskedPong([1]), .ping, .text("one two"), .sent(.pong(Array("b".utf8))))
    }

    @Test("A close frame between fragments ends the connection, and the message is dropped", arguments: bothRoles)
    func closeWithinMessage(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame.text("one ").unfinished, .close(1_001), .continuation([]))
        conversation.expect(.peerClose)
    }

    @Test("A continuation needs a beginning", arguments: bothRoles, [true, false])
    func continuationWithoutBeginning(role: WebSocketSession.Role, isFinal: Bool) {
        let frame = PeerFrame.continuation([1])
        var conversation = Conversation(role)
        conversation.receive(.binary([7]), isFinal ? frame : frame.unfinished)
        conversation.expectFailing(.protocolError, .wrongFragmentation, after: .binary([7]))
    }

    @Test(
        "A message may not begin within another",
        arguments: bothRoles,
        [PeerFrame.text("b"), .binary([1]), .text("").unfinished]
    )
    func beginningWithinMessage(role: WebSocketSession.Role, frame: PeerFrame) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame.text("a").unfinished, .ping("p"))
        conversation.receive(frame)
        conversation.expectFailing(.protocolError, .wrongFragmentation, after: .ping, .sent(.pong(Array("p".utf8))))
    }

    // MARK: Headers

    @Test("Reserved bits must be zero on every kind of frame", arguments: bothRoles, (1...7).map { UInt8($0 << 4) })
    func reservedBits(role: WebSocketSession.Role, bits: UInt8) {
        for frame in [PeerFrame.text("a"), .binary([]), .ping(""), .pong([]), .emptyClose, .text("a").unfinished] {
            var conversation = Conversation(role)
            conversation.receive(frame.reserved(bits))
            conversation.expectFailing(.protocolError, .reservedBits)
        }
        var continued = Conversation(role)
        continued.receive(PeerFrame.text("a").unfinished, .continuation([]).reserved(bits))
        continued.expectFailing(.protocolError, .reservedBits)
    }

    @Test(
        "Reserved opcodes are refused",
        arguments: bothRoles,
        [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map { Opcode(rawValue: $0) }
    )
    func reservedOpcodes(role: WebSocketSession.Role, opcode: Opcode) {
        var conversation = Conversation(role)
        conversation.receive(.text("first"), PeerFrame(opcode: opcode, payload: [1]))
        conversation.expectFailing(.protocolError, .reservedOpcode, after: .text("first"))
    }

    @Test("A client's frames must be masked, a server's must not", arguments: bothRoles)
    func maskingDirection(role: WebSocketSession.Role) {
        for frame in [PeerFrame.text("a"), .binary([]), .ping("p"), .pong([]), .close(1_000), .emptyClose] {
            var conversation = Conversation(role)
            conversation.receive(frame.wronglyMasked)
            conversation.expectFailing(.protocolError, .wrongMasking)
        }
    }

    @Test("Lengths must be in their shortest form, and fit 63 bits")
    func lengthForms() {
        for bytes in [[126, 0, 125], [127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]] as [[UInt8]] {
            var conversation = Conversation(.client)
            conversation.receive(bytes: [0x82] + bytes)
            conversation.expectFailing(.protocolError, .lengthNotMinimal)
        }
        var conversation = Conversation(.client)
        conversation.receive(bytes: [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0])
        conversation.expectFailing(.protocolError, .lengthTooLarge)
    }

    // MARK: Order

    @Test("Messages before a violation are delivered first, and nothing behind it is", arguments: bothRoles)
    func messagesFirst(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(
            .text("one"),
            PeerFrame.binary([1]).unfinished,
            .continuation([2]),
            .text("three"),
            .text([0xFF]),
            .text("five")
        )
        conversation.expectFailing(
            .invalidFramePayloadData,
            .invalidUTF8,
            after: .text("one"),
            .binary([1, 2]),
            .text("three")
        )
    }

    @Test("Nothing behind a close frame is parsed, not even what breaks the rules", arguments: bothRoles)
    func nothingAfterClose(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(
            .text("before"),
            .close(1_000),
            .text("after"),
            .ping(""),
            PeerFrame(opcode: Opcode(rawValue: 7), payload: [])
        )
        conversation.receive(.close(1_002))
        let transcript = conversation.expect(.text("before"), .peerClose)
        #expect(transcript.report.received == CloseFrame(code: .normalClosure))
    }

    @Test("Nothing is parsed once the transport has ended")
    func nothingAfterEnd() {
        var conversation = Conversation(.server)
        conversation.receive(.text("before"))
        conversation.perform(.endOfStream)
        conversation.receive(.text("after"))
        #expect(conversation.expect(.text("before")).state == .closed)
    }
}
