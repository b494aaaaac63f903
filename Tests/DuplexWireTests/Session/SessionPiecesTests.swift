// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Messages that are given in pieces (RFC 6455 section 5.4)")
struct SessionPiecesTests {
    private static func streaming(
        _ role: WebSocketSession.Role,
        limit: ByteCount = .unlimited,
        limits: MessageLimits = .internet,
        deflate: DeflateAgreement? = nil
    ) -> Conversation {
        var conversation = Conversation(role, limits: limits)
        conversation.deflate = deflate
        conversation.perform(.stream(limit))
        return conversation
    }

    private static func whole(_ kind: Message.Kind, _ bytes: [UInt8]) -> Seen {
        .pieces(kind, bytes, isFirst: true, isLast: true)
    }

    private static func whole(_ text: String) -> Seen { whole(.text, Array(text.utf8)) }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        let deflater = Deflater(.init(windowBits: 15, level: 9))
        return deflater.deflate(bytes.span.raw, into: &output) ? output : []
    }

    @Test("One frame or several, with control frames between them, make up the message", arguments: bothRoles)
    func fragments(role: WebSocketSession.Role) {
        var conversation = Self.streaming(role)
        conversation.receive(.text("one"), .text(""), PeerFrame.binary([1]).unfinished, .ping("p"))
        conversation.receive(PeerFrame.continuation([2]).unfinished, .continuation([]), .binary([3]))
        conversation.expect(
            Self.whole("one"),
            Self.whole(""),
            .pieces(.binary, [1], isFirst: true, isLast: false),
            .ping,
            .sent(.pong(Array("p".utf8))),
            .pieces(.binary, [2], isFirst: false, isLast: true),
            Self.whole(.binary, [3])
        )
    }

    @Test("Neither the length of messages nor that of frames is bounded, unless by a limit", arguments: bothRoles)
    func lengths(role: WebSocketSession.Role) {
        let limits = MessageLimits.internet.with(messageSize: 10)
        let long = [UInt8](repeating: 7, count: 150_000)
        var conversation = Self.streaming(role, limits: limits)
        conversation.verifier.positions = 64
        conversation.receive(.binary(long))
        conversation.expect(Self.whole(.binary, long))
        var limited = Self.streaming(role, limit: 12, limits: limits)
        limited.receive(.binary([UInt8](repeating: 1, count: 12)))
        limited.receive(PeerFrame.binary([1, 2, 3, 4]).unfinished, .continuation([UInt8](repeating: 5, count: 9)))
        limited.expectFailing(
            .messageTooBig,
            .messageTooLarge,
            after: Self.whole(.binary, [UInt8](repeating: 1, count: 12)),
            .pieces(.binary, [1, 2, 3, 4], isFirst: true, isLast: false)
        )
    }

    @Test("A frame's announced length is taken at its word only against the limit", arguments: bothRoles)
    func announced(role: WebSocketSession.Role) {
        var conversation = Self.streaming(role)
        conversation.receive(PeerFrame.binary([1, 2]).announcing(1 << 62))
        conversation.expect(.pieces(.binary, [1, 2], isFirst: true, isLast: false))
        var limited = Self.streaming(role, limit: .gibibytes(1))
        limited.receive(PeerFrame.binary([]).announcing(1 << 62))
        limited.expectFailing(.messageTooBig, .messageTooLarge)
    }

    @Test("Fragments with payload have no bound, those without have that of fragments", arguments: bothRoles)
    func emptyFragments(role: WebSocketSession.Role) {
        let limits = MessageLimits.internet.with(fragments: 3)
        var many = Self.streaming(role, limits: limits)
        many.receive([PeerFrame.binary([0]).unfinished])
        many.receive((1..<20).map { PeerFrame.continuation([$0]).unfinished })
        many.receive(.continuation([20]))
        many.expect(Self.whole(.binary, Array(0...20)))
        var empty = Self.streaming(role, limits: limits)
        empty.receive(PeerFrame.binary([]).unfinished)
        empty.receive((0..<3).map { _ in PeerFrame.continuation([]).unfinished })
        empty.expectFailing(.policyViolation, .tooManyFragments)
    }

    @Test("A text is checked as it comes, and what is right before a fault is given", arguments: bothRoles)
    func text(role: WebSocketSession.Role) {
        var conversation = Self.streaming(role)
        let bytes = Array("ä€𐍈".utf8)
        conversation.receive(PeerFrame.text(Array(bytes.prefix(3))).unfinished)
        conversation.receive(.continuation(Array(bytes.dropFirst(3))))
        conversation.expect(Self.whole("ä€𐍈"))
        var wrong = Self.streaming(role)
        wrong.receive(PeerFrame.text("abc").unfinished, .continuation([0x64, 0xFF, 0x65]))
        wrong.expectFailing(
            .invalidFramePayloadData,
            .invalidUTF8,
            after: .pieces(.text, Array("abcd".utf8), isFirst: true, isLast: false)
        )
        var cut = Self.streaming(role)
        cut.receive(.text([0x61, 0xE2, 0x82]))
        cut.expectFailing(
            .invalidFramePayloadData,
            .invalidUTF8,
            after: .pieces(.text, [0x61, 0xE2, 0x82], isFirst: true, isLast: false)
        )
        var cutBehind = Self.streaming(role)
        cutBehind.receive(PeerFrame.text([0xE2, 0x82]).unfinished, .continuation([]))
        cutBehind.expectFailing(
            .invalidFramePayloadData,
            .invalidUTF8,
            after: .pieces(.text, [0xE2, 0x82], isFirst: true, isLast: false)
        )
    }

    @Test("The rules of fragmentation hold as for whole messages", arguments: bothRoles)
    func rules(role: WebSocketSession.Role) {
        var alone = Self.streaming(role)
        alone.receive(.continuation([1]))
        alone.expectFailing(.protocolError, .wrongFragmentation)
        var within = Self.streaming(role)
        within.receive(PeerFrame.binary([1]).unfinished, .binary([2]))
        within.expectFailing(
            .protocolError,
            .wrongFragmentation,
            after: .pieces(.binary, [1], isFirst: true, isLast: false)
        )
        var closing = Self.streaming(role)
        closing.receive(PeerFrame.binary([1]).unfinished, .close(1_000), .continuation([2]))
        closing.expect(.pieces(.binary, [1], isFirst: true, isLast: false), .peerClose)
    }

    @Test("Whether the connection ended within a message is known, whichever way it was to come")
    func ends() {
        for (frames, isWithin) in [
            ([.binary([1]), .close(1_000)], false), ([PeerFrame.binary([1]).unfinished, .close(1_000)], true),
            ([PeerFrame.binary([1]).announcing(2)], true),
        ] as [([PeerFrame], Bool)] {
            for streams in [false, true] {
                let session = WebSocketSession(role: .server, now: Instant(nanoseconds: 0))
                if streams { session.streamMessages() }
                _ = changed(frames.flatMap { $0.bytes(to: .server) }) { input in
                    var position = 0
                    while session.nextEvent(in: &input, at: &position, now: Instant(nanoseconds: 0)) != nil {}
                }
                session.endOfStream()
                #expect(session.endedWithinMessage == isWithin)
            }
        }
    }

    @Test("A message that has begun comes as it began", arguments: bothRoles)
    func switching(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame.binary([1]).unfinished)
        conversation.perform(.stream(.unlimited))
        conversation.receive(.continuation([2]), .binary([3]))
        conversation.expect(.binary([1, 2]), Self.whole(.binary, [3]))
    }

    // MARK: Compressed (RFC 7692)

    private static var forgetful: DeflateAgreement {
        var agreement = DeflateAgreement()
        agreement.clientNoContextTakeover = true
        agreement.serverNoContextTakeover = true
        return agreement
    }

    @Test("Compressed messages are inflated piece by piece, with context and without", arguments: bothRoles)
    func compressed(role: WebSocketSession.Role) {
        var generator = SeededGenerator(seed: 7)
        let noise = (0..<3_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let bytes = noise + [UInt8](repeating: 0, count: 200_000) + noise
        let payload = Self.deflated(bytes)
        for agreement in [DeflateAgreement(), Self.forgetful] {
            var conversation = Self.streaming(role, deflate: agreement)
            conversation.verifier.positions = 64
            conversation.receive(PeerFrame.binary(Array(payload.prefix(1_000))).reserved(0x40).unfinished)
            conversation.receive(.continuation(Array(payload.dropFirst(1_000))), .text("plain"))
            conversation.receive(PeerFrame.binary(payload).reserved(0x40))
            conversation.expect(Self.whole(.binary, bytes), Self.whole("plain"), Self.whole(.binary, bytes))
        }
    }

    @Test("The second message refers to the first, and empty ones are one byte or none", arguments: bothRoles)
    func takeover(role: WebSocketSession.Role) {
        var conversation = Self.streaming(role, deflate: DeflateAgreement())
        let frames = [SessionCompressionTests.hello, SessionCompressionTests.helloAgain, [0], []]
        conversation.receive(frames.map { PeerFrame.text($0).reserved(0x40) })
        conversation.expect(Self.whole("Hello"), Self.whole("Hello"), Self.whole(""), Self.whole(""))
    }

    @Test("A bomb is given in pieces, and ends at the limit if there is one", arguments: bothRoles)
    func bomb(role: WebSocketSession.Role) {
        let bytes = [UInt8](repeating: 0x61, count: 1 << 20)
        let payload = Self.deflated(bytes)
        var conversation = Self.streaming(role, limits: .internet.with(messageSize: 10), deflate: DeflateAgreement())
        conversation.verifier = SplitVerifier(randomSplits: 2, positions: 8)
        conversation.receive(PeerFrame.text(payload).reserved(0x40))
        conversation.expect(Self.whole(.text, bytes))
        var limited = Self.streaming(role, limit: .kibibytes(100), deflate: DeflateAgreement())
        limited.verifier = SplitVerifier(randomSplits: 2, positions: 8)
        limited.receive(PeerFrame.text(payload).reserved(0x40))
        limited.expectFailing(
            .messageTooBig,
            .messageTooLarge,
            after: .pieces(.text, Array(bytes.prefix(100 * 1_024)), isFirst: true, isLast: false)
        )
    }

    @Test("What can't be inflated fails behind what could", arguments: bothRoles)
    func corrupt(role: WebSocketSession.Role) {
        var conversation = Self.streaming(role, deflate: DeflateAgreement())
        conversation.receive(PeerFrame.binary([0xFF, 0xFF]).reserved(0x40))
        conversation.expectFailing(.invalidFramePayloadData, .malformedCompression)
        var text = Self.streaming(role, deflate: DeflateAgreement())
        text.receive(PeerFrame.text(Self.deflated([0x61, 0xC3])).reserved(0x40))
        text.expectFailing(
            .invalidFramePayloadData,
            .invalidUTF8,
            after: .pieces(.text, [0x61, 0xC3], isFirst: true, isLast: false)
        )
    }

    @Test("While there is more of a message, the session says so when its input is taken")
    func asksToGoOn() {
        var asked = 0
        // At some of these lengths a piece ends while the last byte is taken and not all of it is given.
        for length in stride(from: 65_537, to: 66_600, by: 17) {
            let deflate = DeflatePool().compression(DeflateAgreement(), role: .server, settings: .init())
            let session = WebSocketSession(role: .server, compression: deflate, now: Instant(nanoseconds: 0))
            session.streamMessages()
            let payload = Self.deflated([UInt8](repeating: 0, count: length))
            var count = 0
            _ = changed(PeerFrame.binary(payload).reserved(0x40).bytes(to: .server)) { input in
                var position = 0
                while let event = session.nextEvent(in: &input, at: &position, now: Instant(nanoseconds: 0)) {
                    if case .piece(let piece) = event, case .assembled(let given) = piece.payload {
                        count += given.count
                    }
                    if position == input.byteCount && session.hasMoreToGive { asked += 1 }
                }
            }
            #expect(count == length)
            #expect(!session.hasMoreToGive)
            #expect(session.compression?.counts.messagesInflated == 1)
            #expect(session.compression?.counts.bytesInflated == length)
        }
        #expect(asked > 0)
    }
}
