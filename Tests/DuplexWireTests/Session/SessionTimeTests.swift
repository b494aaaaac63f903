// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("What time asks of a session")
struct SessionTimeTests {
    /// Where the clock of a conversation begins.
    static let start = Instant(nanoseconds: 1_000)

    static func deadline(_ seconds: Int) -> Seen { .deadline(start.advanced(by: .seconds(seconds))) }

    static func ping(_ id: UInt8) -> Seen { .sent(PeerFrame(opcode: .ping, payload: [0, 0, 0, 0, 0, 0, 0, id])) }

    static func silent(_ seconds: Int) -> Seen {
        let duration = Duration.seconds(seconds)
        return .timeout(
            .pingTimedOut(
                WebSocketProtocolError(.pingTimeout, "The peer has been silent for \(duration) after a ping.")
            )
        )
    }

    static func conversation(_ role: WebSocketSession.Role, every interval: Int, timeout: Int) -> Conversation {
        var conversation = Conversation(role)
        conversation.pings = .every(.seconds(interval), timeout: .seconds(timeout))
        return conversation
    }

    @Test("Without pings there is nothing to wait for", arguments: bothRoles)
    func disabled(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.lookAtDeadline, .wait(.seconds(100_000)), .passDeadline)
        conversation.expect(.deadline(nil), .timeout(.none))
    }

    @Test("A ping goes out every interval, traffic or not", arguments: bothRoles)
    func interval(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 20, timeout: 15)
        conversation.perform(.lookAtDeadline, .wait(.seconds(19)), .passDeadline, .wait(.seconds(1)), .passDeadline)
        conversation.receive(.text("alive"))
        conversation.perform(.wait(.seconds(1)))
        conversation.receive(.pong([0, 0, 0, 0, 0, 0, 0, 1]))
        conversation.perform(.lookAtDeadline, .wait(.seconds(19)), .passDeadline)
        conversation.expect(
            Self.deadline(20),
            .timeout(.none),
            .timeout(.wrote),
            Self.ping(1),
            .text("alive"),
            .pong(1, .seconds(1)),
            Self.deadline(35),
            .timeout(.wrote),
            Self.ping(2)
        )
    }

    @Test("A peer that is silent after a ping is given up when the timeout has passed", arguments: bothRoles)
    func silence(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 20, timeout: 15)
        conversation.perform(.wait(.seconds(20)), .passDeadline, .lookAtDeadline)
        conversation.perform(.wait(.seconds(14)), .passDeadline, .wait(.seconds(1)), .passDeadline, .lookAtDeadline)
        conversation.expect(
            .timeout(.wrote),
            Self.ping(1),
            Self.deadline(35),
            .timeout(.none),
            Self.silent(15),
            .deadline(nil)
        )
    }

    @Test("Any byte is a sign of life: part of a frame, a pong to nothing", arguments: bothRoles)
    func signOfLife(role: WebSocketSession.Role) {
        let lives: [([UInt8], [Seen])] = [([0x81], []), (PeerFrame.pong([]).bytes(to: role), [.unaskedPong([])])]
        for (bytes, seen) in lives {
            var conversation = Self.conversation(role, every: 20, timeout: 15)
            conversation.perform(.wait(.seconds(20)), .passDeadline, .wait(.seconds(1)))
            conversation.receive(bytes: bytes)
            conversation.perform(.wait(.seconds(14)), .passDeadline, .lookAtDeadline)
            conversation.expect([.timeout(.wrote), Self.ping(1)] + seen + [.timeout(.none), Self.deadline(40)])
        }
    }

    @Test("What came at the very instant of the ping is no answer to it", arguments: bothRoles)
    func sameInstant(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 20, timeout: 15)
        conversation.perform(.wait(.seconds(20)))
        conversation.receive(.text("a"))
        conversation.perform(.passDeadline, .wait(.seconds(15)), .passDeadline)
        conversation.expect(.text("a"), .timeout(.wrote), Self.ping(1), Self.silent(15))
    }

    @Test("With a timeout longer than the interval, the silence is counted from the first ping without an answer")
    func longTimeout() {
        var conversation = Self.conversation(.server, every: 10, timeout: 25)
        conversation.perform(.wait(.seconds(10)), .passDeadline, .wait(.seconds(1)))
        conversation.receive(.pong([0, 0, 0, 0, 0, 0, 0, 1]))
        conversation.perform(.wait(.seconds(9)), .passDeadline, .wait(.seconds(10)), .passDeadline)
        conversation.perform(.wait(.seconds(10)), .passDeadline, .lookAtDeadline, .wait(.seconds(5)), .passDeadline)
        conversation.expect(
            .timeout(.wrote),
            Self.ping(1),
            .pong(1, .seconds(1)),
            .timeout(.wrote),
            Self.ping(2),
            .timeout(.wrote),
            Self.ping(3),
            .timeout(.wrote),
            Self.ping(4),
            Self.deadline(45),
            Self.silent(25)
        )
    }

    @Test("While this side doesn't read, silence says nothing")
    func notReading() {
        var conversation = Self.conversation(.server, every: 20, timeout: 15)
        conversation.perform(.wait(.seconds(20)), .passDeadline, .wait(.seconds(15)), .peerIsAlive, .passDeadline)
        conversation.expect(.timeout(.wrote), Self.ping(1), .timeout(.none))
    }

    @Test("A deadline that is seen late asks for one ping, not for all that were missed")
    func late() {
        var conversation = Self.conversation(.server, every: 20, timeout: 15)
        conversation.perform(.wait(.seconds(1_000)), .passDeadline, .passDeadline, .lookAtDeadline)
        conversation.expect(.timeout(.wrote), Self.ping(1), .timeout(.none), Self.deadline(1_015))
    }

    // MARK: Closing

    @Test("A peer that doesn't answer a close frame in time is given up", arguments: bothRoles)
    func closeTimeout(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 2, timeout: 1)
        conversation.closeTimeout = .seconds(5)
        conversation.perform(.wait(.seconds(1)), .close(.normalClosure, ""), .lookAtDeadline)
        conversation.perform(.wait(.seconds(4)), .passDeadline, .wait(.seconds(1)), .passDeadline)
        conversation.expect(
            .sent(.close(1_000)),
            Self.deadline(6),
            .timeout(.none),
            .timeout(.closeTimedOut)
        )
    }

    @Test("Bytes of the peer don't put the end of the closing handshake off", arguments: bothRoles)
    func closeTimeoutWithTraffic(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 2, timeout: 1)
        conversation.perform(.close(.normalClosure, ""), .wait(.seconds(9)))
        conversation.receive(.text("a"), .ping("b"))
        conversation.perform(.wait(.seconds(1)), .passDeadline, .endOfStream, .lookAtDeadline, .passDeadline)
        conversation.expect(
            .sent(.close(1_000)),
            .text("a"),
            .ping,
            .timeout(.closeTimedOut),
            .deadline(nil),
            .timeout(.none)
        )
    }

    @Test("After both close frames there is nothing to wait for", arguments: bothRoles)
    func closed(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 2, timeout: 1)
        conversation.perform(.close(.normalClosure, ""))
        conversation.receive(.close(1_000))
        conversation.perform(.lookAtDeadline, .wait(.seconds(1_000)), .passDeadline)
        conversation.expect(.sent(.close(1_000)), .peerClose, .deadline(nil), .timeout(.none))
    }

    @Test("A failed connection is given up like a closing one", arguments: bothRoles)
    func failed(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 2, timeout: 1)
        conversation.receive(.text([0xFF]))
        conversation.perform(.failAsSeen, .lookAtDeadline, .wait(.seconds(10)), .passDeadline)
        conversation.expect(
            .violation(.invalidUTF8),
            .sent(.close(1_007, "A text isn't UTF-8.")),
            Self.deadline(10),
            .timeout(.closeTimedOut)
        )
    }

    @Test("A peer that has closed owes no sign of life, however long the app takes to answer", arguments: bothRoles)
    func silenceAfterClose(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 20, timeout: 15)
        conversation.receive(.close(1_000))
        conversation.perform(.lookAtDeadline, .wait(.seconds(20)), .passDeadline, .wait(.seconds(15)), .passDeadline)
        conversation.perform(.answerClose)
        let transcript = conversation.expect(
            .peerClose,
            .deadline(nil),
            .timeout(.none),
            .timeout(.none),
            .sent(.close(1_000))
        )
        #expect(transcript.report.error == nil)
        #expect(transcript.report.isClean)
    }

    @Test("Nor does one that broke the rules, which isn't listened to any more", arguments: bothRoles)
    func silenceAfterViolation(role: WebSocketSession.Role) {
        var conversation = Self.conversation(role, every: 20, timeout: 15)
        conversation.receive(.text([0xFF]))
        conversation.perform(.lookAtDeadline, .wait(.seconds(40)), .passDeadline, .wait(.seconds(15)), .passDeadline)
        conversation.expect(.violation(.invalidUTF8), .deadline(nil), .timeout(.none), .timeout(.none))
    }
}
