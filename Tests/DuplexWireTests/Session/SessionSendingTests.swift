// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Synchronization
import Testing

@testable import DuplexWire

@Suite("Sending messages")
struct SessionSendingTests {
    static let start = Instant(nanoseconds: 0)

    static func session(
        _ role: WebSocketSession.Role,
        keys: MaskingKeys = MaskingKeys { 0x9A3C_77E1 }
    ) -> WebSocketSession {
        WebSocketSession(role: role, limits: .local, pings: .disabled, maskingKeys: keys, now: start)
    }

    static func encode(_ message: Message, by session: WebSocketSession) -> [UInt8] {
        switch message {
        case .text(let text): encode(.text, Array(text.utf8), by: session)
        case .binary(let bytes): encode(.binary, bytes, by: session)
        }
    }

    private static func encode(_ kind: Message.Kind, _ bytes: [UInt8], by session: WebSocketSession) -> [UInt8] {
        written(room: session.encodedSize(payload: bytes.count)) { session.encode(kind, bytes.span.raw, into: &$0) }
    }

    @Test(
        "A message is one frame in its shortest form",
        arguments: bothRoles,
        [0, 1, 125, 126, 127, 65_535, 65_536, 65_537, 1 << 20]
    )
    func lengths(role: WebSocketSession.Role, count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        let payload = generator.bytes(count)
        let session = Self.session(role)
        let output = Self.encode(.binary(payload), by: session)
        #expect(output.count == session.encodedSize(payload: count))
        let header = (count < 126 ? 2 : count < 65_536 ? 4 : 10) + (role == .client ? 4 : 0)
        #expect(output.count == header + count)
        #expect(PeerFrame.read(output, isMasked: role == .client) == [.binary(payload)])
    }

    @Test("A server's header stands before the payload that is sent unchanged", arguments: [0, 125, 126, 70_000])
    func headerAlone(count: Int) {
        let session = Self.session(.server)
        let payload = [UInt8](repeating: 5, count: count)
        let header = written(room: 10) { session.encodeHeader(.text, payload: count, into: &$0) }
        #expect(header + payload == Self.encode(.text, payload, by: session))
    }

    @Test("A short header is that of the same message, and the message counts", arguments: [0, 125, 126, 255, 65_535])
    func shortHeader(count: Int) throws {
        let session = Self.session(.server)
        let payload = [UInt8](repeating: 5, count: count)
        for kind in [Message.Kind.text, .binary] {
            let header = try #require(session.shortHeader(kind, payload: count))
            let bytes = (0..<header.size).map { UInt8(truncatingIfNeeded: header.bytes >> UInt64(8 * $0)) }
            #expect(bytes + payload == Self.encode(kind, payload, by: Self.session(.server)))
        }
        #expect(session.counts.messagesSent == 2)
        #expect(session.counts.bytesSent == 2 * count)
    }

    @Test("There is no short header for long messages, of clients, where a tap looks on and behind a close frame")
    func noShortHeader() {
        #expect(Self.session(.server).shortHeader(.binary, payload: 65_536) == nil)
        #expect(Self.session(.client).shortHeader(.binary, payload: 1) == nil)
        let closed = Self.session(.server)
        closed.close(.normalClosure, now: Self.start)
        #expect(closed.shortHeader(.binary, payload: 1) == nil)
        let tapped = WebSocketSession(role: .server, tap: SessionTap(payloadLimit: 0) { _, _ in }, now: Self.start)
        #expect(tapped.shortHeader(.binary, payload: 1) == nil)
        #expect(tapped.counts.messagesSent == 0)
    }

    @Test("A client may not send a header alone, for its payload must be masked")
    func headerAloneFromClient() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionSendingTests.session(.client)
            _ = written(room: 14) { session.encodeHeader(.text, payload: 1, into: &$0) }
        }
    }

    @Test("Every frame of a client is masked with a key of its own, control frames too")
    func freshKeys() {
        let drawn = Mutex<UInt32>(0)
        let keys = MaskingKeys {
            drawn.withLock { drawn in
                drawn += 1
                return drawn
            }
        }
        let session = Self.session(.client, keys: keys)
        _ = session.ping(now: Self.start)
        session.close(.normalClosure, now: Self.start)
        let control = written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) }
        #expect(Array(control[2..<6]) == [1, 0, 0, 0])
        #expect(Array(control[16..<20]) == [2, 0, 0, 0])
    }

    @Test("Nothing is written after a close frame, whole or header alone", arguments: bothRoles)
    func afterClose(role: WebSocketSession.Role) {
        let session = Self.session(role)
        session.close(.normalClosure, now: Self.start)
        #expect(!session.canSend)
        #expect(Self.encode("late", by: session).isEmpty)
        if role == .server {
            #expect(written(room: 10) { session.encodeHeader(.text, payload: 4, into: &$0) }.isEmpty)
        }
    }

    @Test("What one side encodes the other parses, in every split", arguments: bothRoles, UInt64(1)...6)
    func identity(role: WebSocketSession.Role, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let keys = (0..<64).map { _ in UInt32(truncatingIfNeeded: generator.next()) }
        let next = Mutex(0)
        let session = Self.session(
            role,
            keys: MaskingKeys {
                next.withLock { next in
                    next += 1
                    return keys[next % 64]
                }
            }
        )
        let messages = (0..<12).map { _ in Self.message(using: &generator) }
        var conversation = Conversation(role == .client ? .server : .client)
        conversation.verifier = SplitVerifier(seed: seed, randomSplits: 8, positions: 100)
        conversation.receive(bytes: messages.flatMap { Self.encode($0, by: session) })
        let expected = messages.map { message -> Seen in
            switch message {
            case .text(let text): .text(text)
            case .binary(let bytes): .binary(bytes)
            }
        }
        #expect(conversation.run().seen == expected)
    }

    private static func message(using generator: inout SeededGenerator) -> Message {
        let count = [0, 1, 60, 125, 126, 200, 700].randomElement(using: &generator) ?? 0
        if Bool.random(using: &generator) { return .binary(generator.bytes(count)) }
        return .text(String((0..<count).map { _ in "aé€😀 ".randomElement(using: &generator) ?? "a" }))
    }

    // MARK: Control frames

    @Test("Pings have identities of their own, which their payload carries", arguments: bothRoles)
    func pings(role: WebSocketSession.Role) {
        let session = Self.session(role)
        #expect((0..<3).map { _ in session.ping(now: Self.start) } == [1, 2, 3])
        let output = written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) }
        let frames = PeerFrame.read(output, isMasked: role == .client) ?? []
        #expect(frames.map(\.opcode) == [.ping, .ping, .ping])
        #expect(frames.map(\.payload) == (UInt8(1)...3).map { [0, 0, 0, 0, 0, 0, 0, $0] })
        #expect(!session.hasControlOutput)
    }

    @Test("The pings that wait are bounded, and so is the room for them")
    func boundedPings() {
        let session = Self.session(.server)
        for _ in 0..<1_000 { _ = session.ping(now: Self.start) }
        #expect(session.controlOutputSize <= 16 * 139)
        let output = written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) }
        #expect(PeerFrame.read(output, isMasked: false)?.count == 16)
    }

    @Test("A ping after the close frame isn't sent")
    func pingAfterClose() {
        var conversation = Conversation(.client)
        conversation.perform(.close(.normalClosure, ""), .ping)
        conversation.expect(.sent(.close(1_000)))
    }

    @Test("A close reason is cut at 123 bytes, between two characters' scalars", arguments: bothRoles)
    func longReason(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.normalClosure, String(repeating: "é", count: 100)))
        conversation.expect(.sent(.close(1_000, String(repeating: "é", count: 61))))
    }

    @Test("A code that may not go on the wire stops the process")
    func unsendableCode() async {
        await #expect(processExitsWith: .failure) {
            SessionSendingTests.session(.server).close(.abnormalClosure, now: Instant(nanoseconds: 0))
        }
    }
}
