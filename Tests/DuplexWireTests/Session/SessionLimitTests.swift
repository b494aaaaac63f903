// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Keeping a peer within limits")
struct SessionLimitTests {
    static func ones(_ count: Int) -> [UInt8] { .init(repeating: 0x31, count: count) }

    @Test("A message may have exactly the allowed size", arguments: bothRoles, [0, 1, 100, 125, 126, 300])
    func messageSize(role: WebSocketSession.Role, size: Int) {
        var conversation = Conversation(role, limits: .internet.with(messageSize: .bytes(size)))
        conversation.receive(.binary(Self.ones(size)))
        conversation.expect(.binary(Self.ones(size)))
        conversation.receive(.binary(Self.ones(size + 1)))
        conversation.expectFailing(.messageTooBig, .frameTooLarge, after: .binary(Self.ones(size)))
    }

    @Test("Over all its fragments, too", arguments: bothRoles)
    func fragmentedSize(role: WebSocketSession.Role) {
        var conversation = Conversation(role, limits: .internet.with(messageSize: 100))
        conversation.receive(PeerFrame.text(Self.ones(60)).unfinished, PeerFrame.continuation(Self.ones(40)).unfinished)
        conversation.receive(.continuation([]))
        conversation.expect(.text(String(repeating: "1", count: 100)))
        conversation.receive(
            PeerFrame.text(Self.ones(60)).unfinished,
            PeerFrame.continuation(Self.ones(40)).unfinished,
            .continuation([0x31])
        )
        conversation.expectFailing(.messageTooBig, .messageTooLarge, after: .text(String(repeating: "1", count: 100)))
    }

    @Test("A frame may have exactly the allowed size", arguments: bothRoles)
    func frameSize(role: WebSocketSession.Role) {
        var limits = MessageLimits.internet
        limits.frameSize = 50
        var conversation = Conversation(role, limits: limits)
        conversation.receive(PeerFrame.binary(Self.ones(50)).unfinished, .continuation(Self.ones(50)))
        conversation.expect(.binary(Self.ones(100)))
        conversation.receive(PeerFrame.binary(Self.ones(50)).unfinished, .continuation(Self.ones(51)))
        conversation.expectFailing(.messageTooBig, .frameTooLarge, after: .binary(Self.ones(100)))
    }

    @Test(
        "A length beyond the limit is refused by its header alone",
        arguments: bothRoles,
        [UInt64(1_048_577), UInt64(Int64.max)]
    )
    func announced(role: WebSocketSession.Role, length: UInt64) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame.binary([]).announcing(length))
        conversation.expectFailing(.messageTooBig, .frameTooLarge)
    }

    @Test(
        "A message may have exactly the allowed number of fragments, empty ones counted",
        arguments: bothRoles,
        [1, 2, 5]
    )
    func fragments(role: WebSocketSession.Role, count: Int) {
        let first = PeerFrame.text("").unfinished
        let further = PeerFrame.continuation([]).unfinished
        var conversation = Conversation(role, limits: .internet.with(fragments: count))
        conversation.receive(.text("whole"))
        if count > 1 {
            conversation.receive([first] + Array(repeating: further, count: count - 2) + [.continuation([])])
        }
        let seen = conversation.run().seen
        #expect(seen == (count > 1 ? [.text("whole"), .text("")] : [.text("whole")]))
        var over = Conversation(role, limits: .internet.with(fragments: count))
        over.receive([first] + Array(repeating: further, count: count))
        over.expectFailing(.policyViolation, .tooManyFragments)
    }

    @Test("Control frames between fragments aren't counted")
    func controlFrames() {
        var conversation = Conversation(.client, limits: .internet.with(fragments: 2).with(messageSize: 2))
        conversation.receive(
            PeerFrame.text("a").unfinished,
            .ping("long"),
            .pong([]),
            .ping("longer"),
            .continuation([0x62])
        )
        conversation.expect(.ping, .unaskedPong([]), .ping, .text("ab"), .sent(.pong(Array("longer".utf8))))
    }

    @Test("A bound of no fragments refuses no whole message, in any split")
    func noFragments() {
        var conversation = Conversation(.client, limits: .internet.with(fragments: 0))
        conversation.receive(.text("hello"))
        conversation.expect(.text("hello"))
    }

    @Test("The longest length there is is taken without limits, and holds no memory ahead", arguments: bothRoles)
    func longest(role: WebSocketSession.Role) throws {
        let session = WebSocketSession(
            role: role,
            limits: .unlimited,
            maskingKeys: MaskingKeys { 1 },
            now: Instant(nanoseconds: 0)
        )
        let header = PeerFrame.binary([]).announcing(1 << 63 - 1).bytes(to: role)
        var arrived = 0
        for piece in [header] + Array(repeating: Self.ones(100), count: 50) {
            _ = changed(piece) { bytes in
                var position = 0
                #expect(session.nextEvent(in: &bytes, at: &position, now: Instant(nanoseconds: 0)) == nil)
                #expect(position == piece.count)
            }
            if piece != header { arrived += 100 }
            let held = try #require(session.heldSize)
            #expect(held.count == arrived)
            #expect(held.capacity <= 2 * arrived + 8_192)
        }
    }

    @Test("Two fragments whose lengths don't fit 64 bits together are refused", arguments: bothRoles)
    func sum(role: WebSocketSession.Role) {
        var conversation = Conversation(role, limits: .unlimited)
        conversation.receive(PeerFrame.binary([1]).unfinished, PeerFrame.continuation([]).announcing(1 << 63 - 1))
        conversation.expectFailing(.messageTooBig, .messageTooLarge)
    }
}
