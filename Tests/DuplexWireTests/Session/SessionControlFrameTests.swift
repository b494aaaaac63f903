// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Receiving control frames")
struct SessionControlFrameTests {
    static let kinds: [Opcode] = [.close, .ping, .pong]

    @Test("Control frames may not be fragmented", arguments: bothRoles, kinds)
    func fragmented(role: WebSocketSession.Role, opcode: Opcode) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame(opcode: opcode, payload: [], isFinal: false))
        conversation.expectFailing(.protocolError, .malformedControl)
    }

    @Test("Control frames may have 125 bytes of payload", arguments: bothRoles)
    func longest(role: WebSocketSession.Role) {
        let text = String(repeating: "p", count: 125)
        var conversation = Conversation(role)
        conversation.receive(.ping(text), .pong(Array(text.utf8)), .close(1_000, String(repeating: "r", count: 123)))
        let pong = Seen.unaskedPong(Array(text.utf8))
        let transcript = conversation.expect(.ping, pong, .peerClose, .sent(.pong(Array(text.utf8))))
        #expect(transcript.report.received?.reason.utf8.count == 123)
    }

    @Test("Control frames may not have more", arguments: bothRoles, kinds)
    func tooLong(role: WebSocketSession.Role, opcode: Opcode) {
        for length in [126, 65_536, 1 << 63 - 1] as [UInt64] {
            var conversation = Conversation(role)
            conversation.receive(PeerFrame(opcode: opcode, payload: []).announcing(length))
            conversation.expectFailing(.protocolError, .malformedControl)
        }
    }

    // MARK: Pings and pongs

    @Test("A ping is answered with its payload", arguments: bothRoles, ["", "p", "payload of a ping"])
    func pong(role: WebSocketSession.Role, text: String) {
        var conversation = Conversation(role)
        conversation.receive(.ping(text))
        conversation.expect(.ping, .sent(.pong(Array(text.utf8))))
    }

    @Test("Of several pings in one read the last is answered, once", arguments: bothRoles)
    func latestPing(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.ping("a"), .text("between"), .ping("b"), .ping("c"))
        conversation.receive(.ping("d"))
        conversation.expect(
            .ping,
            .text("between"),
            .ping,
            .ping,
            .sent(.pong(Array("c".utf8))),
            .ping,
            .sent(.pong(Array("d".utf8)))
        )
    }

    @Test("Pings are still answered after the peer has closed in the same read", arguments: bothRoles)
    func pingThenClose(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.ping("a"), .close(1_000), .ping("b"))
        conversation.perform(.answerClose)
        conversation.expect(.ping, .peerClose, .sent(.pong(Array("a".utf8))), .sent(.close(1_000)))
    }

    @Test("No pong follows this side's close frame", arguments: bothRoles)
    func noPongAfterClose(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.normalClosure, ""))
        conversation.receive(.ping("late"))
        conversation.expect(.sent(.close(1_000)), .ping)
    }

    @Test("A pong that waits goes out before the close frame")
    func pongBeforeClose() {
        let session = WebSocketSession(role: .server, pings: .disabled, now: Instant(nanoseconds: 0))
        let input = PeerFrame.ping("a").bytes(to: .server)
        _ = changed(input) { bytes in
            var position = 0
            while session.nextEvent(in: &bytes, at: &position, now: Instant(nanoseconds: 0)) != nil {}
        }
        session.close(.goingAway, now: Instant(nanoseconds: 0))
        let output = written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) }
        #expect(PeerFrame.read(output, isMasked: false) == [.pong(Array("a".utf8)), .close(1_001)])
    }

    @Test("Pongs that nobody asked for are told with what they carry, and change nothing", arguments: bothRoles)
    func unsolicited(role: WebSocketSession.Role) {
        let payloads: [[UInt8]] = [[], [0, 0, 0, 0, 0, 0, 0, 1], .init(repeating: 9, count: 125)]
        var conversation = Conversation(role)
        for payload in payloads { conversation.receive(.pong(payload)) }
        conversation.receive(.text("a"))
        conversation.expect(payloads.map(Seen.unaskedPong) + [.text("a")])
    }

    @Test("What a ping and a pong carry is known with their event, wherever they are cut")
    func payloads() {
        let input = PeerFrame.ping("who?").bytes(to: .server) + PeerFrame.pong([1, 2]).bytes(to: .server)
        for cut in 0...input.count {
            let session = WebSocketSession(role: .server, pings: .disabled, now: Instant(nanoseconds: 0))
            var seen: [[UInt8]] = []
            for part in [input[..<cut], input[cut...]] {
                _ = changed(Array(part)) { bytes in
                    var position = 0
                    while session.nextEvent(in: &bytes, at: &position, now: Instant(nanoseconds: 0)) != nil {
                        seen.append(session.controlPayload)
                    }
                }
            }
            #expect(seen == [Array("who?".utf8), [1, 2]], "cut at \(cut)")
        }
    }

    @Test("A ping of the app's has its pong told by what it carries, of several alike the oldest", arguments: bothRoles)
    func ownPayload(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.pingCarrying(Array("a".utf8)), .pingCarrying(Array("a".utf8)), .wait(.milliseconds(3)))
        conversation.receive(.pong(Array("a".utf8)), .pong(Array("b".utf8)))
        conversation.perform(.wait(.milliseconds(1)))
        conversation.receive(.pong(Array("a".utf8)), .pong(Array("a".utf8)))
        conversation.expect(
            .sent(.ping("a")),
            .sent(.ping("a")),
            .pong(1, .milliseconds(3)),
            .unaskedPong(Array("b".utf8)),
            .pong(2, .milliseconds(4)),
            .unaskedPong(Array("a".utf8))
        )
    }

    @Test("The payload of a ping is cut at 125 bytes, also where its pong is awaited")
    func longPayload() {
        let cut = String(repeating: "p", count: 125)
        var conversation = Conversation(.server)
        conversation.perform(.pingCarrying(Array((cut + "more").utf8)))
        conversation.receive(.pong(Array(cut.utf8)))
        conversation.expect(.sent(.ping(cut)), .pong(1, .zero))
    }

    // MARK: Resets

    @Test("A reset sends nothing more, parses nothing more, and the report says so", arguments: bothRoles)
    func reset(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.text("before"))
        conversation.perform(.reset, .reset)
        conversation.receive(.ping("a"), .text("behind"))
        conversation.perform(.send("no more"), .close(.normalClosure, ""), .lookAtDeadline)
        let transcript = conversation.expect(.text("before"), .deadline(nil))
        #expect(transcript.report.wasReset && transcript.report.initiator == .local)
        #expect(!transcript.report.isClean && transcript.report.code == .abnormalClosure)
    }

    @Test("A reset within a closing handshake is one, and behind it changes nothing", arguments: bothRoles)
    func resetWhileClosing(role: WebSocketSession.Role) {
        var closing = Conversation(role)
        closing.perform(.close(.goingAway, "bye"), .reset)
        #expect(closing.expect(.sent(.close(1_001, "bye"))).report.wasReset)
        var asked = Conversation(role)
        asked.receive(.close(1_000))
        asked.perform(.reset)
        let report = asked.expect(.peerClose).report
        #expect(report.wasReset && report.initiator == .remote && !report.isClean)
        var closed = Conversation(role)
        closed.receive(.close(1_000))
        closed.perform(.answerClose, .reset)
        let clean = closed.expect(.peerClose, .sent(.close(1_000))).report
        #expect(clean.isClean && !clean.wasReset)
    }

    @Test("A pong names its ping and the time that it took", arguments: bothRoles)
    func roundTrip(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.ping, .wait(.milliseconds(3)))
        conversation.receive(.pong([0, 0, 0, 0, 0, 0, 0, 1]), .pong([0, 0, 0, 0, 0, 0, 0, 1]))
        conversation.expect(
            .sent(.ping(String(repeating: "\0", count: 7) + "\u{1}")),
            .pong(1, .milliseconds(3)),
            .unaskedPong([0, 0, 0, 0, 0, 0, 0, 1])
        )
    }

    // MARK: Close frames

    @Test("Of all codes, just those that may go on the wire are taken")
    func everyCode() {
        for code in UInt16(0)...5_000 {
            let isValid =
                (1_000...1_014).contains(code) && ![1_004, 1_005, 1_006].contains(code)
                || (3_000...4_999).contains(code)
            var conversation = Conversation(.client)
            conversation.verifier.randomSplits = 0
            conversation.receive(.close(code))
            let transcript = conversation.run()
            if isValid {
                #expect(transcript.seen == [.peerClose], "\(code)")
                #expect(transcript.report.received?.code?.rawValue == code)
            } else if case .violation(let error) = transcript.seen.first {
                #expect(error.code == .malformedClose, "\(code)")
                #expect(transcript.seen.count == 1)
            } else {
                Issue.record("\(code) was taken")
            }
        }
    }

    @Test("The highest codes aren't taken", arguments: [UInt16(5_001), 0x8000, 0xFFFF])
    func highestCodes(code: UInt16) {
        var conversation = Conversation(.server)
        conversation.receive(.close(code))
        conversation.expectFailing(.protocolError, .malformedClose)
    }

    @Test("Half a code is malformed", arguments: bothRoles)
    func halfCode(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame(opcode: .close, payload: [3]))
        conversation.expectFailing(.protocolError, .malformedClose)
    }

    @Test("An empty close frame has no code", arguments: bothRoles)
    func empty(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.emptyClose)
        let transcript = conversation.expect(.peerClose)
        #expect(transcript.report.received == CloseFrame(code: nil))
    }

    static let brokenReasons: [[UInt8]] = [
        [0xFF], [0xC3], [0x61, 0xE2, 0x82], [0xED, 0xA0, 0x80], [0x61, 0x80, 0x61, 0x61], [0xF4, 0x90, 0x80, 0x80],
    ]

    @Test("A reason must be UTF-8", arguments: bothRoles, brokenReasons)
    func reason(role: WebSocketSession.Role, reason: [UInt8]) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame(opcode: .close, payload: [0x03, 0xE8] + reason))
        conversation.expectFailing(.invalidFramePayloadData, .invalidUTF8)
    }

    @Test("A reason that can't be UTF-8 is refused before its frame has come whole", arguments: bothRoles)
    func earlyReason(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame(opcode: .close, payload: [0x03, 0xE8, 0x61, 0xFF]).announcing(100))
        conversation.expectFailing(.invalidFramePayloadData, .invalidUTF8)
    }

    @Test("With a wrong code and a wrong reason, the code is what is wrong", arguments: bothRoles, brokenReasons)
    func codeBeforeReason(role: WebSocketSession.Role, reason: [UInt8]) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame(opcode: .close, payload: [0x03, 0xED] + reason))
        conversation.expectFailing(.protocolError, .malformedClose)
    }

    @Test("A wrong code is refused before its frame has come whole")
    func earlyCode() {
        var conversation = Conversation(.client)
        conversation.receive(PeerFrame(opcode: .close, payload: [0x03, 0xED]).announcing(100))
        conversation.expectFailing(.protocolError, .malformedClose)
    }

    @Test("Nothing needs to come behind a wrong code, nor behind a byte that no reason has", arguments: bothRoles)
    func nothingBehind(role: WebSocketSession.Role) {
        for (payload, code) in [([0x03, 0xED], .malformedClose), ([0x03, 0xE8, 0xFF], .invalidUTF8)]
            as [([UInt8], WebSocketProtocolError.Code)]
        {
            var conversation = Conversation(role)
            conversation.receive(PeerFrame(opcode: .close, payload: payload).announcing(100))
            guard case .violation(let error) = conversation.run().seen.first else {
                Issue.record("There is no violation.")
                return
            }
            #expect(error.code == code)
        }
    }
}
