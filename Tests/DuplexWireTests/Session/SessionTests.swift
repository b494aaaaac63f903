// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

@Suite("Sessions")
struct SessionTests {
    static let start = Instant(nanoseconds: 0)

    @Test("A new session is open, and nothing has happened")
    func fresh() {
        let session = WebSocketSession(role: .server, now: Self.start)
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
        let session = WebSocketSession(role: .client, maskingKeys: MaskingKeys { 0x0403_0201 }, now: Self.start)
        #expect(session.masksFrames)
        let output = written(room: 7) { session.encode(.binary, [0].span.raw, into: &$0) }
        #expect(output == [0x82, 0x81, 1, 2, 3, 4, 1])
    }

    @Test("A server doesn't mask, even if it is handed keys")
    func serverDoesNotMask() {
        let session = WebSocketSession(role: .server, maskingKeys: MaskingKeys { 0x0403_0201 }, now: Self.start)
        let output = written(room: session.encodedSize(payload: 1)) { session.encode(.binary, [0].span.raw, into: &$0) }
        #expect(output == [0x82, 1, 0])
    }

    @Test("A client without masking keys stops the process")
    func clientWithoutKeys() async {
        await #expect(processExitsWith: .failure) {
            _ = WebSocketSession(role: .client, now: Instant(nanoseconds: 0))
        }
    }

    // MARK: The closing handshake

    @Test("This side closes, the peer answers", arguments: bothRoles)
    func localClose(role: WebSocketSession.Role) {
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
    func remoteClose(role: WebSocketSession.Role) {
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
    func emptyClose(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.emptyClose)
        conversation.perform(.answerClose)
        let transcript = conversation.expect(.peerClose, .sent(.emptyClose))
        #expect(transcript.report.code == .noStatusReceived)
        #expect(transcript.report.isClean)
    }

    @Test("The app may answer a close with a code of its own", arguments: bothRoles)
    func ownAnswer(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.close(1_001))
        conversation.perform(.close(.normalClosure, "fine"), .answerClose)
        let transcript = conversation.expect(.peerClose, .sent(.close(1_000, "fine")))
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == .remote)
        #expect(transcript.report.code == .goingAway)
    }

    @Test("Both close at once: each close frame answers the other", arguments: bothRoles)
    func crossing(role: WebSocketSession.Role) {
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
    func closingTwice(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.goingAway, ""), .close(.internalError, ""), .ping, .send("x"))
        conversation.perform(.fail(WebSocketProtocolError(.pingTimeout, "late")))
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
    func endWithoutClose(role: WebSocketSession.Role) {
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
    func endBeforeAnswer(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.perform(.close(.normalClosure, ""), .endOfStream)
        let transcript = conversation.expect(.sent(.close(1_000)))
        #expect(transcript.state == .closed)
        #expect(transcript.report.initiator == .local)
        #expect(transcript.report.code == .abnormalClosure)
    }

    @Test("The transport ends before this side's answer: not clean, but the peer's code stands", arguments: bothRoles)
    func endBeforeOwnAnswer(role: WebSocketSession.Role) {
        var conversation = Conversation(role)
        conversation.receive(.close(1_001))
        conversation.perform(.endOfStream, .answerClose)
        let transcript = conversation.expect(.peerClose)
        #expect(!transcript.report.isClean)
        #expect(transcript.report.code == .goingAway)
        #expect(transcript.report.initiator == .remote)
    }

    @Test("A violation after this side's close frame sends nothing more, and is reported", arguments: bothRoles)
    func violationWhileClosing(role: WebSocketSession.Role) {
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
        conversation.perform(.failAsSeen, .fail(WebSocketProtocolError(.pingTimeout, "late")))
        let transcript = conversation.expect(.violation(.invalidUTF8), .sent(.close(1_007, "A text isn't UTF-8.")))
        #expect(transcript.report.error == .invalidUTF8)
    }
}

@Suite struct SessionSettingsTests {
    @Test("Settings hold what the limits, the pings and the closing say")
    func values() {
        let limits = MessageLimits.local.with(messageSize: .kibibytes(3))
        let settings = SessionSettings(
            limits: limits,
            pings: .adaptive(from: .seconds(2), to: .seconds(9), timeout: .seconds(4)),
            closeTimeout: .seconds(7)
        )
        #expect(settings.inboxMessages == limits.inboxMessages && settings.inboxBytes == limits.inboxBytes)
        #expect(settings.limits.messageSize == .kibibytes(3) && settings.limits.fragments == limits.fragments)
        #expect(settings.closeTimeout == .seconds(7))
        #expect(settings.pings.shortest == 2_000_000_000 && settings.pings.longest == 9_000_000_000)
        #expect(settings.pings.timeout == 4_000_000_000)
        #expect(SessionSettings(pings: .disabled).pings.shortest == 0)
    }

    @Test("Sessions that share settings each have their own time")
    func shared() {
        let settings = SessionSettings(pings: .every(.seconds(1), timeout: .seconds(1)))
        let start = Instant(nanoseconds: 5)
        let early = WebSocketSession(role: .server, settings: settings, now: start)
        let late = WebSocketSession(role: .server, settings: settings, now: start.advanced(by: .seconds(1)))
        #expect(early.settings === late.settings)
        #expect(early.deadline == start.advanced(by: .seconds(1)))
        #expect(late.deadline == start.advanced(by: .seconds(2)))
        #expect(early.deadlinePassed(now: start.advanced(by: .seconds(1))) == .wrote)
        #expect(!late.hasControlOutput)
    }

    @Test("An instant in a small place is there or not")
    func compact() {
        var place = CompactInstant()
        #expect(place.instant == nil)
        place.instant = Instant(nanoseconds: -3)
        #expect(place.instant == Instant(nanoseconds: -3))
        place.instant = nil
        #expect(place.instant == nil)
    }
}

@Suite("What has gone over a connection")
struct SessionCountsTests {
    private static let start = Instant(nanoseconds: 0)

    /// A ping, a text in two fragments with a ping between them, an empty message, and a close frame.
    private static let input: [UInt8] =
        [0x89, 0x80, 0, 0, 0, 0, 0x01, 0x82, 0, 0, 0, 0, 0x61, 0x62, 0x89, 0x80, 0, 0, 0, 0]
        + [0x80, 0x81, 0, 0, 0, 0, 0x63, 0x82, 0x80, 0, 0, 0, 0, 0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8]

    @Test("What arrives counts the same in every split")
    func arriving() throws {
        let counts = try SplitVerifier().verify(Self.input) { pieces -> SessionCounts in
            let session = WebSocketSession(role: .server, now: Self.start)
            for piece in pieces {
                var bytes = piece
                var span = bytes.mutableSpan
                var raw = unsafe span.mutableBytes
                var position = 0
                while session.nextEvent(in: &raw, at: &position, now: Self.start) != nil {}
            }
            return session.counts
        }
        var expected = SessionCounts()
        expected.messagesReceived = 2
        expected.bytesReceived = 3
        expected.controlFramesReceived = 3
        #expect(counts == expected)
    }

    @Test("What is sent counts once, and nothing does behind the close frame")
    func sending() {
        let session = WebSocketSession(role: .server, now: Self.start)
        let payload: [UInt8] = [1, 2, 3]
        _ = written(room: 64) {
            session.encode(.binary, payload.span.raw, into: &$0)
            session.encodeHeader(.text, payload: 7, into: &$0)
        }
        _ = session.ping(now: Self.start)
        session.close(.normalClosure, now: Self.start)
        _ = written(room: session.controlOutputSize) { session.writeControlOutput(into: &$0) }
        _ = written(room: 64) { session.encode(.binary, payload.span.raw, into: &$0) }
        var expected = SessionCounts()
        expected.messagesSent = 2
        expected.bytesSent = 10
        expected.controlFramesSent = 2
        #expect(session.counts == expected)
        #expect(session.counts.since(expected) == SessionCounts())
    }

    @Test("The first message has an instant, and later ones don't change it")
    func firstMessage() {
        let session = WebSocketSession(role: .server, now: Self.start)
        #expect(session.firstMessage == nil && session.began == Self.start)
        for second in 1...2 {
            var bytes: [UInt8] = [0x82, 0x80, 0, 0, 0, 0]
            var span = bytes.mutableSpan
            var raw = unsafe span.mutableBytes
            var position = 0
            let now = Self.start.advanced(by: .seconds(second))
            _ = session.nextWholeMessage(in: &raw, at: &position, now: now)
            #expect(session.lastHeardOf == now)
        }
        #expect(session.firstMessage == Self.start.advanced(by: .seconds(1)))
        #expect(session.counts.messagesReceived == 2 && session.counts.bytesReceived == 0)
    }
}
