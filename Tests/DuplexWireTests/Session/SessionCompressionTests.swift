// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import Testing

@testable import DuplexWire

@Suite("Compressed messages (RFC 7692 sections 6 and 7.2)")
struct SessionCompressionTests {
    static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    static let helloAgain: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]

    private static func conversation(
        _ role: WebSocketSession.Role,
        limits: MessageLimits = .internet,
        _ change: (inout DeflateAgreement) -> Void = { _ in }
    ) -> Conversation {
        var conversation = Conversation(role, limits: limits)
        var agreement = DeflateAgreement()
        change(&agreement)
        conversation.deflate = agreement
        return conversation
    }

    private static func forgetful(_ agreement: inout DeflateAgreement) {
        agreement.clientNoContextTakeover = true
        agreement.serverNoContextTakeover = true
    }

    /// A message as one frame that says that it is compressed.
    private static func compressed(_ payload: [UInt8]) -> PeerFrame { PeerFrame.text(payload).reserved(0x40) }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        let deflater = Deflater(.init(windowBits: 15, level: 9))
        return deflater.deflate(bytes.span.raw, into: &output) ? output : []
    }

    // MARK: Section 7.2.3, the examples

    @Test("7.2.3.1: a message in one block, in one frame", arguments: bothRoles)
    func oneBlock(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(Self.compressed(Self.hello))
        conversation.expect(.text("Hello"))
    }

    @Test("7.2.3.1: the same in two frames, with a ping between them", arguments: bothRoles)
    func twoFrames(role: WebSocketSession.Role) {
        for cut in 0...Self.hello.count {
            var conversation = Self.conversation(role)
            conversation.receive(
                Self.compressed(Array(Self.hello.prefix(cut))).unfinished,
                .ping("p"),
                .continuation(Array(Self.hello.dropFirst(cut)))
            )
            conversation.expect(.ping, .text("Hello"), .sent(.pong(Array("p".utf8))))
        }
    }

    @Test("7.2.3.2: the second message refers to the first", arguments: bothRoles)
    func sharedWindow(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(Self.compressed(Self.hello), Self.compressed(Self.helloAgain))
        conversation.expect(.text("Hello"), .text("Hello"))
        var forgetful = Self.conversation(role, Self.forgetful)
        forgetful.receive(Self.compressed(Self.hello), Self.compressed(Self.hello))
        forgetful.expect(.text("Hello"), .text("Hello"))
        forgetful.receive(Self.compressed(Self.helloAgain))
        forgetful.expectFailing(
            .invalidFramePayloadData,
            .malformedCompression,
            after: .text("Hello"),
            .text("Hello")
        )
    }

    @Test(
        "7.2.3.3 to 7.2.3.5: a block without compression, one that says to be the last, and two blocks",
        arguments: [
            [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
        ] as [[UInt8]]
    )
    func otherBlocks(payload: [UInt8]) {
        for role in bothRoles {
            var conversation = Self.conversation(role)
            conversation.receive(Self.compressed(payload), Self.compressed(Self.hello))
            conversation.expect(.text("Hello"), .text("Hello"))
        }
    }

    @Test("7.2.3.6: an empty message is one byte, or none", arguments: bothRoles)
    func empty(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(Self.compressed([0x00]), Self.compressed([]), Self.compressed(Self.hello))
        conversation.expect(.text(""), .text(""), .text("Hello"))
    }

    // MARK: Section 6

    @Test("Messages that aren't compressed may come between those that are", arguments: bothRoles)
    func mixed(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role)
        conversation.receive(Self.compressed(Self.hello), .text("plain"), PeerFrame.binary([1]).unfinished)
        conversation.receive(.continuation([2]), Self.compressed(Self.helloAgain))
        conversation.expect(.text("Hello"), .text("plain"), .binary([1, 2]), .text("Hello"))
    }

    @Test("The bit on a fragment behind the first is refused", arguments: bothRoles)
    func bitOnContinuation(role: WebSocketSession.Role) {
        for first in [Self.compressed(Self.hello), .text("Hello")] {
            var conversation = Self.conversation(role)
            conversation.receive(first.unfinished, PeerFrame.continuation([0]).reserved(0x40))
            conversation.expectFailing(.protocolError, .reservedBits)
        }
    }

    @Test("The bit on a control frame is refused", arguments: bothRoles)
    func bitOnControl(role: WebSocketSession.Role) {
        for frame in [PeerFrame.ping(""), .pong([]), .close(1_000)] {
            var conversation = Self.conversation(role)
            conversation.receive(frame.reserved(0x40))
            conversation.expectFailing(.protocolError, .reservedBits)
        }
    }

    @Test("The other two bits are refused, and all where nothing was agreed on", arguments: bothRoles)
    func otherBits(role: WebSocketSession.Role) {
        for bits in [0x10, 0x20, 0x50, 0x60, 0x70] as [UInt8] {
            var conversation = Self.conversation(role)
            conversation.receive(PeerFrame.text(Self.hello).reserved(bits))
            conversation.expectFailing(.protocolError, .reservedBits)
        }
        var plain = Conversation(role)
        plain.receive(Self.compressed(Self.hello))
        plain.expectFailing(.protocolError, .reservedBits)
    }

    // MARK: What isn't valid

    @Test("What isn't deflate fails with 1007, as does a message that ends in the middle", arguments: bothRoles)
    func corrupt(role: WebSocketSession.Role) {
        let cut = Array(Self.hello.prefix(4))
        let payloads: [[UInt8]] = [[0x07], [0xFF, 0xFF], cut, Self.hello + [0, 0, 0xFF, 0xFF]]
        for payload in payloads {
            var conversation = Self.conversation(role)
            conversation.receive(Self.compressed(payload))
            conversation.expectFailing(.invalidFramePayloadData, .malformedCompression)
        }
    }

    @Test("Text that isn't UTF-8 once it is inflated fails with 1007", arguments: bothRoles)
    func invalidText(role: WebSocketSession.Role) {
        for text in [[0x61, 0xFF, 0x62], [0xC3], Array("abc".utf8) + [0xED, 0xA0, 0x80]] as [[UInt8]] {
            var conversation = Self.conversation(role)
            conversation.receive(Self.compressed(Self.deflated(text)))
            conversation.expectFailing(.invalidFramePayloadData, .invalidUTF8)
            var binary = Self.conversation(role)
            binary.receive(PeerFrame.binary(Self.deflated(text)).reserved(0x40))
            #expect(binary.run().seen.count == 1)
        }
    }

    // MARK: Limits

    @Test("The limit is on what comes out: exactly as much passes, one byte more fails with 1009", arguments: bothRoles)
    func messageSize(role: WebSocketSession.Role) {
        let limits = MessageLimits.internet.with(messageSize: 1_000)
        for count in [999, 1_000] {
            var conversation = Self.conversation(role, limits: limits)
            conversation.receive(Self.compressed(Self.deflated([UInt8](repeating: 0x61, count: count))))
            conversation.expect(.text(String(repeating: "a", count: count)))
        }
        for count in [1_001, 100_000] {
            var conversation = Self.conversation(role, limits: limits)
            conversation.receive(Self.compressed(Self.deflated([UInt8](repeating: 0x61, count: count))))
            conversation.expectFailing(.messageTooBig, .messageTooLarge)
        }
    }

    @Test("And over all fragments", arguments: bothRoles)
    func fragmentedBomb(role: WebSocketSession.Role) {
        let payload = Self.deflated([UInt8](repeating: 0x61, count: 100_000))
        var conversation = Self.conversation(role, limits: .internet.with(messageSize: 1_000))
        conversation.receive(Self.compressed(Array(payload.prefix(3))).unfinished)
        conversation.receive(payload.dropFirst(3).map { PeerFrame.continuation([$0]).unfinished })
        conversation.expectFailing(.messageTooBig, .messageTooLarge)
    }

    @Test("What deflate makes longer passes up to the limit", arguments: bothRoles)
    func incompressible(role: WebSocketSession.Role) {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        // As it is, in a block with its length in front (RFC 1951 section 3.2.4).
        let payload: [UInt8] = [0x00, 0xE8, 0x03, 0x17, 0xFC] + bytes + [0x00]
        var conversation = Self.conversation(role, limits: .internet.with(messageSize: 1_000))
        conversation.receive(PeerFrame.binary(payload).reserved(0x40))
        conversation.expect(.binary(bytes))
    }

    @Test("Bytes of which nothing comes out have a bound as well", arguments: bothRoles)
    func emptyBlocks(role: WebSocketSession.Role) {
        let block: [UInt8] = [0x00, 0x00, 0x00, 0xFF, 0xFF]
        var limits = MessageLimits.internet.with(messageSize: 1_000)
        limits.frameSize = 100
        let fragment = (0..<20).flatMap { _ in block }
        var conversation = Self.conversation(role, limits: limits)
        conversation.receive(Self.compressed(fragment).unfinished)
        conversation.receive((0..<30).map { _ in PeerFrame.continuation(fragment).unfinished })
        conversation.expectFailing(.messageTooBig, .messageTooLarge)
    }

    @Test("A frame that announces more than any message may have is refused by its header", arguments: bothRoles)
    func announced(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, limits: .internet.with(messageSize: 1_000))
        conversation.receive(Self.compressed([]).announcing(10_000))
        conversation.expectFailing(.messageTooBig, .frameTooLarge)
    }

    @Test("Fragments are counted", arguments: bothRoles)
    func fragments(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, limits: .internet.with(fragments: 2))
        conversation.receive(Self.compressed(Self.hello).unfinished, PeerFrame.continuation([]).unfinished)
        conversation.receive(.continuation([]))
        conversation.expectFailing(.policyViolation, .tooManyFragments)
    }

    // MARK: Sending

    @Test("Messages go out as the examples have them; without context each for itself")
    func sends() {
        var conversation = Self.conversation(.server)
        conversation.deflateThreshold = 0
        conversation.perform(.send("Hello"), .send("Hello"), .send(""))
        let sent = conversation.run().seen
        #expect(sent.count == 3)
        #expect(sent.first == .sent(Self.compressed(Self.hello)) && sent.last == .sent(Self.compressed([0x00])))
        // There is more than one way to say what the example says in five bytes.
        guard sent.count == 3, case .sent(let again) = sent[1] else { return }
        #expect(again.reservedBits == 0x40 && again.payload.count <= Self.helloAgain.count)
        let text = String(repeating: "Hello ", count: 20)
        var forgetful = Self.conversation(.client, Self.forgetful)
        forgetful.deflateThreshold = 0
        forgetful.perform(.send(.text(text)), .send(.text(text)))
        let seen = forgetful.run().seen
        #expect(seen.count == 2 && seen[0] == seen[1])
        guard case .sent(let frame) = seen[0] else { return }
        #expect(frame.reservedBits == 0x40 && frame.payload.count < 30)
    }

    @Test("Nothing is compressed, nor sent, behind a close frame")
    func behindClose() {
        var conversation = Self.conversation(.server)
        conversation.deflateThreshold = 0
        conversation.perform(.close(.normalClosure, ""), .send("Hello"))
        conversation.expect(.sent(.close(1_000)))
    }

    @Test("The threshold decides unless the app does, and what went is counted")
    func choices() {
        let agreement = DeflateAgreement()
        let compression = DeflatePool().compression(agreement, role: .server, settings: .init(), threshold: 100)
        let session = WebSocketSession(role: .server, compression: compression, now: Instant(nanoseconds: 0))
        let short = [UInt8](repeating: 1, count: 99)
        let long = [UInt8](repeating: 1, count: 100)
        var lengths: [Int] = []
        var results: [Bool] = []
        for (bytes, choice) in [(short, nil), (short, true), (long, nil), (long, false)] as [([UInt8], Bool?)] {
            results.append(session.compress(bytes.span.raw, choice) { lengths.append($0.byteCount) })
        }
        #expect(results == [false, true, true, false])
        #expect(compression.counts.messagesDeflated == 2)
        #expect(compression.counts.bytesBeforeDeflating == 199)
        #expect(compression.counts.bytesDeflated == lengths.reduce(0, +))
    }

    // MARK: Memory

    @Test("An idle connection gives memory back, and goes on where it was")
    func rest() {
        let inflater = Inflater()
        let session = WebSocketSession(
            role: .server,
            compression: MessageCompression(agreement: DeflateAgreement(), inflater: inflater, deflater: nil),
            now: Instant(nanoseconds: 0)
        )
        let messages = [Self.hello, Self.helloAgain].map { Self.compressed($0).bytes(to: .server) }
        var now = Instant(nanoseconds: 0)
        var seen: [Bool] = []
        for message in messages {
            var count = 0
            _ = changed(message) { input in
                var position = 0
                while case .message(_, .assembled(let bytes)) = session.nextEvent(in: &input, at: &position, now: now) {
                    count += bytes.count
                }
            }
            #expect(count == 5)
            for _ in 0..<2 {
                seen.append(inflater.holdsMemory)
                now = now.advanced(by: .seconds(20))
                session.peerIsAlive(now: now)
                _ = session.deadlinePassed(now: now)
            }
            seen.append(inflater.holdsMemory)
        }
        #expect(seen == [true, true, false, true, true, false])
        session.fail(.malformedCompression, now: now)
        #expect(!inflater.holdsMemory)
    }
}
