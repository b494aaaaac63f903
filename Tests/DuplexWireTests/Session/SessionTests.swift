// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Sessions")
struct SessionTests {
    static let start = Instant(nanoseconds: 0)

    @Test("A new session is open, and nothing has happened")
    func fresh() {
        let session = Session(role: .server, now: Self.start)
        #expect(session.state == .open)
        #expect(session.canSend)
        #expect(!session.masksFrames)
        #expect(!session.hasControlOutput)
        #expect(session.report == CloseReport())
        #expect(session.closeTimeout == .seconds(10))
        #expect(session.deadline == Self.start.advanced(by: .seconds(20)))
    }

    @Test("A client masks its frames, each with a key of its own")
    func clientMasks() {
        let session = Session(role: .client, maskingKeys: MaskingKeys { 0x0403_0201 }, now: Self.start)
        #expect(session.masksFrames)
        let output = written(room: 7) { session.encode(.binary, [0].span.raw, into: &$0) }
        #expect(output == [0x82, 0x81, 1, 2, 3, 4, 1])
    }

    @Test("A server doesn't mask, even if it is handed keys")
    func serverDoesNotMask() {
        let session = Session(role: .server, maskingKeys: MaskingKeys { 0x0403_0201 }, now: Self.start)
        let output = written(room: session.encodedSize(payload: 1)) { session.encode(.binary, [0].span.raw, into: &$0) }
        #expect(output == [0x82, 1, 0])
    }

    @Test("A client without masking keys stops the process")
    func clientWithoutKeys() async {
        await #expect(processExitsWith: .failure) {
            _ = Session(role: .client, now: Instant(nanoseconds: 0))
        }
    }

    // MARK: The closing handshake

    @Test("This side closes, the peer answers", arguments: bothRoles)
    func localClose(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.goingAway, "see you"))
        #expect(conversation.expect(.sent(.close(1_001, "see you"))).state == .closing)
        conversation.receive(.text("on its way"), .close(1_001))
        let transcript = conversation.expect(.sent(.close(1_001, "see you")), .text("on its way"), .peerClose)
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == .local)
        #expect(transcript.report.sent == CloseFrame(code: .goingAway, reason: "see you"))
        #expect(transcript.report.received == CloseFrame(code: .goingAway))
        #expect(transcript.report.isClean)
        #expect(transcript.report.code == .goingAway)
    }

    @Test("The peer closes, this side answers with the peer's code", arguments: bothRoles)
    func remoteClose(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.receive(.close(4_000, "bye"))
        #expect(conversation.expect(.peerClose).state == .closing)
        conversation.perform(.send("last words"), .answerClose, .answerClose, .send("too late"))
        let transcript = conversation.expect(.peerClose, .sent(.text("last words")), .sent(.close(4_000)))
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == .remote)
        #expect(transcript.report.isClean)
        #expect(transcript.report.code.rawValue == 4_000)
        #expect(transcript.report.received?.reason == "bye")
    }

    @Test("A close frame without a code is answered by one without a code", arguments: bothRoles)
    func emptyClose(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.receive(.emptyClose)
        conversation.perform(.answerClose)
        let transcript = conversation.expect(.peerClose, .sent(.emptyClose))
        #expect(transcript.report.code == .noStatusReceived)
        #expect(transcript.report.isClean)
    }

    @Test("The app may answer a close with a code of its own", arguments: bothRoles)
    func ownAnswer(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.receive(.close(1_001))
        conversation.perform(.close(.normalClosure, "fine"), .answerClose)
        let transcript = conversation.expect(.peerClose, .sent(.close(1_000, "fine")))
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == .remote)
        #expect(transcript.report.code == .goingAway)
    }

    @Test("Both close at once: each close frame answers the other", arguments: bothRoles)
    func crossing(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.normalClosure, ""))
        conversation.receive(.close(1_001))
        conversation.perform(.answerClose)
        let transcript = conversation.expect(.sent(.close(1_000)), .peerClose)
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == .local)
        #expect(transcript.report.isClean)
    }

    @Test("Closing twice sends one close frame, the first", arguments: bothRoles)
    func closingTwice(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.goingAway, ""), .close(.internalError, ""), .ping, .send("x"))
        conversation.perform(.fail(ProtocolError(.keepaliveTimeout, "late")))
        conversation.expect(.sent(.close(1_001)))
    }

    @Test("Answering before the peer has closed does nothing")
    func answerWithoutClose() {
        var conversation = Conversation(.server)
        conversation.perform(.answerClose, .send("open"))
        #expect(conversation.expect(.sent(.text("open"))).state == .open)
    }

    // MARK: Ends that aren't clean

    @Test("The transport ends without a close frame: 1006", arguments: bothRoles)
    func endWithoutClose(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.receive(PeerFrame.text("half").unfinished)
        conversation.perform(.endOfStream, .send("x"), .ping, .close(.normalClosure, ""))
        let transcript = conversation.expect()
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == nil)
        #expect(!transcript.report.isClean)
        #expect(transcript.report.code == .abnormalClosure)
    }

    @Test("The transport ends before the peer's answer: 1006", arguments: bothRoles)
    func endBeforeAnswer(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.normalClosure, ""), .endOfStream)
        let transcript = conversation.expect(.sent(.close(1_000)))
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == .local)
        #expect(transcript.report.code == .abnormalClosure)
    }

    @Test("The transport ends before this side's answer: not clean, but the peer's code stands", arguments: bothRoles)
    func endBeforeOwnAnswer(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.receive(.close(1_001))
        conversation.perform(.endOfStream, .answerClose)
        let transcript = conversation.expect(.peerClose)
        #expect(!transcript.report.isClean)
        #expect(transcript.report.code == .goingAway)
        #expect(transcript.report.initiator == .remote)
    }

    @Test("A violation after this side's close frame sends nothing more, and is reported", arguments: bothRoles)
    func violationWhileClosing(role: Session.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.normalClosure, ""))
        conversation.receive(.text([0xFF]), .close(1_000))
        conversation.perform(.failAsSeen)
        let transcript = conversation.expect(.sent(.close(1_000)), .violation(.invalidUTF8))
        #expect(transcript.report.error == .invalidUTF8)
        #expect(transcript.report.received == nil)
        #expect(transcript.state == .closing)
    }

    @Test("Of several failures the first is reported")
    func firstFailure() {
        var conversation = Conversation(.server)
        conversation.receive(.text([0xFF]))
        conversation.perform(.failAsSeen, .fail(ProtocolError(.keepaliveTimeout, "late")))
        let transcript = conversation.expect(.violation(.invalidUTF8), .sent(.close(1_007, "A text isn't UTF-8.")))
        #expect(transcript.report.error == .invalidUTF8)
    }
}
