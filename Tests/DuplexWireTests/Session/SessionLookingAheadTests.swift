// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite struct SessionLookingAheadTests {
    private let now = Instant(nanoseconds: 1)
    private let payload: [UInt8] = [0x03, 0xE9]

    /// The events of a server's session, with the keys all zero.
    private func events(_ session: WebSocketSession, _ bytes: [UInt8]) -> [String] {
        var bytes = bytes
        var span = bytes.mutableSpan
        var input = unsafe span.mutableBytes
        var position = 0
        var events: [String] = []
        while let event = session.nextEvent(in: &input, at: &position, now: now) {
            switch event {
            case .message: events.append("message")
            case .peerClose: events.append("close")
            case .violation: events.append("violation")
            default: events.append("other")
            }
        }
        return events
    }

    private let message: [UInt8] = [0x81, 0x81, 0, 0, 0, 0, 0x61]
    private let close: [UInt8] = [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE9]

    @Test("A close that is known ahead is answered, and what comes before it is given")
    func answered() {
        let session = WebSocketSession(role: .server, now: now)
        #expect(session.peerCloses(ahead: payload))
        #expect(session.state == .closing && session.report.received?.code == .goingAway)
        session.answerClose(now: now)
        #expect(session.state == .closed && !session.canSend)
        #expect(events(session, message + message + close + message) == ["message", "message", "close"])
        #expect(session.report.isClean && session.report.initiator == .remote && !session.endIsAhead)
    }

    @Test("The transport may end meanwhile")
    func ended() {
        let session = WebSocketSession(role: .server, now: now)
        #expect(session.peerCloses(ahead: payload))
        session.endOfStream()
        #expect(events(session, message + close) == ["message", "close"])
        #expect(session.state == .closed)
    }

    @Test("What had come before the transport ended is given, if the owner says so")
    func kept() {
        let session = WebSocketSession(role: .server, now: now)
        session.endOfStreamAhead()
        #expect(events(session, message) == ["message"])
        session.endInput()
        #expect(events(session, message).isEmpty && !session.report.isClean)
    }

    @Test("A reset ends it at once, and what came before it isn't given")
    func reset() {
        let session = WebSocketSession(role: .server, now: now)
        #expect(session.peerCloses(ahead: payload))
        session.reset()
        #expect(!session.endIsAhead && session.state == .closed && session.report.wasReset)
        #expect(events(session, message + close).isEmpty)
    }

    @Test("A violation before the close is still one")
    func violation() {
        let session = WebSocketSession(role: .server, now: now)
        #expect(session.peerCloses(ahead: payload))
        session.answerClose(now: now)
        #expect(events(session, message + [0x83, 0x80, 0, 0, 0, 0] + close) == ["message", "violation"])
    }

    @Test("A close frame that breaks a rule isn't answered ahead", arguments: [[0x03], [0x00, 0x00]] as [[UInt8]])
    func broken(payload: [UInt8]) {
        let session = WebSocketSession(role: .server, now: now)
        #expect(!session.peerCloses(ahead: payload))
        #expect(session.state == .open && session.report.received == nil)
    }

    @Test("The search begins at the beginning of a frame")
    func beginning() {
        let session = WebSocketSession(role: .server, now: now)
        #expect(session.searchClose() != nil)
        #expect(events(session, Array(message[..<1])).isEmpty)
        #expect(session.searchClose() == nil)
        #expect(events(session, Array(message[1..<6])).isEmpty)
        #expect(session.searchClose() == nil)
        #expect(events(session, Array(message[6...])) == ["message"])
        #expect(session.searchClose() != nil)
    }
}
