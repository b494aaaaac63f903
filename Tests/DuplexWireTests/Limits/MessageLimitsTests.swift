// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct MessageLimitsTests {
    @Test("The default bounds what a stranger's messages can make this side hold")
    func internet() {
        let limits = MessageLimits.internet
        #expect(limits.messageSize == .mebibytes(1))
        #expect(limits.frameSize == .mebibytes(1))
        #expect(limits.fragments == 4_096)
        #expect(limits.minimumRate == 512)
        #expect(limits.inboxMessages == 16)
        #expect(limits.inboxBytes == .mebibytes(1))
    }

    @Test("Every preset bounds slowness and the inbox", arguments: [MessageLimits.internet, .local, .unlimited])
    func alwaysBounded(limits: MessageLimits) {
        #expect(limits.messageTime.map { $0 <= .seconds(300) } == true)
        #expect(limits.minimumRate >= 512)
        #expect(limits.inboxBytes <= .mebibytes(16))
        #expect(limits.inboxMessages <= 64)
    }

    @Test("Changing one limit keeps the others, but for the frame size, which goes with the message size")
    func changing() {
        var expected = MessageLimits.internet
        expected.messageSize = .mebibytes(8)
        expected.frameSize = .mebibytes(8)
        #expect(MessageLimits.internet.with(messageSize: .mebibytes(8)) == expected)
        expected = .internet
        expected.fragments = 7
        #expect(MessageLimits.internet.with(fragments: 7) == expected)
        expected = .internet
        expected.messageTime = nil
        #expect(MessageLimits.internet.with(messageTime: nil) == expected)
    }
}

@Suite struct AssemblyLimitsTests {
    @Test("What limits say of messages is kept", arguments: [MessageLimits.internet, .local, .unlimited])
    func kept(limits: MessageLimits) {
        var limits = limits
        limits.frameSize = 77
        let kept = AssemblyLimits(limits)
        #expect(kept.messageSize == limits.messageSize)
        #expect(kept.frameSize == 77)
        #expect(kept.fragments == limits.fragments)
    }
}

@Suite("The time that a message may take")
struct MessagePaceTests {
    private static func limits(_ time: Duration? = .seconds(10), rate: ByteCount = 100) -> MessageLimits {
        var limits = MessageLimits.internet.with(messageTime: time)
        limits.minimumRate = rate
        return limits
    }

    private static func conversation(_ role: WebSocketSession.Role, _ limits: MessageLimits = limits()) -> Conversation
    {
        var conversation = Conversation(role, limits: limits)
        conversation.pings = .disabled
        return conversation
    }

    private static func deadline(_ seconds: Int) -> Seen { SessionTimeTests.deadline(seconds) }

    private static let late = WebSocketProtocolError(.messageTimeout, "A message took longer than it may.")

    @Test("A message that isn't finished in its time fails with 1008; nothing behind it is taken", arguments: bothRoles)
    func unfinished(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(PeerFrame.text("ab").unfinished)
        conversation.perform(.lookAtDeadline, .wait(.milliseconds(9_999)), .passDeadline)
        conversation.perform(.wait(.milliseconds(1)), .passDeadline, .lookAtDeadline)
        conversation.receive(.continuation([0x63]))
        conversation.perform(.fail(Self.late))
        conversation.expect(
            Self.deadline(10),
            .timeout(.none),
            .timeout(.messageTimedOut(Self.late)),
            .deadline(nil),
            .sent(.close(1_008, "A message took longer than it may."))
        )
    }

    @Test("So does one within a frame, however often its sender drips and answers", arguments: bothRoles)
    func dripping(role: WebSocketSession.Role) {
        let bytes = PeerFrame.binary([UInt8](repeating: 7, count: 100)).bytes(to: role)
        var conversation = Self.conversation(role)
        conversation.receive(bytes: Array(bytes.prefix(20)))
        for byte in bytes[20..<29] {
            conversation.perform(.wait(.seconds(1)))
            conversation.receive(bytes: [byte])
        }
        conversation.perform(.lookAtDeadline, .wait(.seconds(1)), .passDeadline)
        conversation.expect(Self.deadline(10), .timeout(.messageTimedOut(Self.late)))
    }

    @Test("Control frames within a message are no part of it", arguments: bothRoles)
    func pings(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(PeerFrame.text("ab").unfinished)
        conversation.perform(.wait(.seconds(9)))
        conversation.receive(.pong([UInt8](repeating: 0, count: 120)))
        conversation.perform(.lookAtDeadline)
        conversation.expect(.unaskedPong([UInt8](repeating: 0, count: 120)), Self.deadline(10))
    }

    @Test("Each second's worth of bytes is a second more, as long as they keep coming", arguments: bothRoles)
    func steady(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        let hundred = [UInt8](repeating: 7, count: 100)
        conversation.receive(PeerFrame.binary(hundred).unfinished)
        conversation.perform(.lookAtDeadline)
        for _ in 0..<30 {
            conversation.perform(.wait(.seconds(1)))
            conversation.receive(PeerFrame.continuation(hundred).unfinished)
            conversation.perform(.passDeadline)
        }
        conversation.perform(.lookAtDeadline)
        conversation.receive(.continuation([]))
        conversation.perform(.lookAtDeadline)
        let fine = [Seen](repeating: .timeout(.none), count: 30)
        let message = Seen.binary([UInt8](repeating: 7, count: 3_100))
        #expect(conversation.run().seen == [Self.deadline(10)] + fine + [Self.deadline(40), message, .deadline(nil)])
    }

    @Test("The earlier of the two is waited for: the next ping or the end of the message", arguments: bothRoles)
    func besidePings(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.pings = .every(.seconds(20), timeout: .seconds(15))
        conversation.perform(.lookAtDeadline)
        conversation.receive(PeerFrame.text("ab").unfinished)
        conversation.perform(.lookAtDeadline)
        conversation.receive(.continuation([0x63]))
        conversation.perform(.lookAtDeadline)
        conversation.expect(Self.deadline(20), Self.deadline(10), .text("abc"), Self.deadline(20))
    }

    @Test("Time in which this side didn't read is given back", arguments: bothRoles)
    func restart(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(PeerFrame.text("ab").unfinished)
        conversation.perform(.wait(.seconds(9)), .restartMessageTime, .lookAtDeadline)
        conversation.expect(Self.deadline(19))
    }

    @Test("Time in which this side kept a peer that was too fast waiting is added, and not more", arguments: bothRoles)
    func excuse(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.perform(.excuseMessage(.seconds(50)))
        conversation.receive(PeerFrame.text("ab").unfinished)
        conversation.perform(.lookAtDeadline, .wait(.seconds(9)), .excuseMessage(.seconds(8)), .lookAtDeadline)
        conversation.perform(.wait(.seconds(8)), .passDeadline, .wait(.seconds(1)), .passDeadline)
        let late = WebSocketProtocolError(.messageTimeout, "A message took longer than it may.")
        conversation.expect(
            Self.deadline(10),
            Self.deadline(18),
            .timeout(.none),
            .timeout(.messageTimedOut(late))
        )
    }

    @Test("Of such times no more is given back than ten times what a message has", arguments: bothRoles)
    func excuses(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(PeerFrame.text("ab").unfinished)
        for time in [60, 30, 30, 4] { conversation.perform(.excuseMessage(.seconds(time)), .lookAtDeadline) }
        conversation.expect(Self.deadline(70), Self.deadline(100), Self.deadline(110), Self.deadline(110))
    }

    @Test("A message that is given in pieces may take any time, and so may all without a limit", arguments: bothRoles)
    func unlimited(role: WebSocketSession.Role) {
        for conversation in [Self.conversation(role, Self.limits(nil)), Self.conversation(role)] {
            var conversation = conversation
            if conversation.limits.messageTime != nil { conversation.perform(.stream(.unlimited)) }
            conversation.receive(PeerFrame.text("ab").unfinished)
            conversation.perform(.lookAtDeadline, .wait(.seconds(100_000)), .passDeadline)
            let seen = conversation.run().seen
            #expect(seen.suffix(2) == [.deadline(nil), .timeout(.none)])
        }
    }

    @Test("Every preset has a time for messages, and one of 49 days or more is none")
    func presets() {
        #expect(MessageLimits.internet.messageTime == .seconds(60))
        #expect(MessageLimits.local.messageTime == .seconds(300))
        #expect(MessageLimits.unlimited.messageTime == .seconds(300))
        let start = Instant(nanoseconds: 0)
        #expect(AssemblyLimits(.internet).pace(now: start)?.deadline == start.advanced(by: .seconds(60)))
        #expect(AssemblyLimits(.internet.with(messageTime: .seconds(5_000_000))).pace(now: start) == nil)
        #expect(AssemblyLimits(.internet.with(messageTime: .zero)).pace(now: start)?.deadline == start)
    }
}
