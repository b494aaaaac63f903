// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexWire

/// What a session does, in the order in which the app and the peer see it.
enum Seen: Equatable, Sendable {
    case text(String)
    case binary([UInt8])
    /// Pieces of a message, put together as long as nothing else was seen between them.
    case pieces(Message.Kind, [UInt8], isFirst: Bool, isLast: Bool)
    /// A piece that is longer than allowed, or empty.
    case wrongPiece(Int)
    case ping
    case pong(UInt64, Duration)
    case unaskedPong([UInt8])
    case peerClose
    case violation(WebSocketProtocolError)
    /// A frame went out.
    case sent(PeerFrame)
    /// What went out isn't a row of frames that this role may send, or needed more room than was said.
    case malformedOutput([UInt8])
    /// The session didn't take all of its input.
    case stuck(Int)
    case timeout(WebSocketSession.TimeoutAction)
    case deadline(Instant?)
}

/// A session and what happens to it, step by step.
///
/// Expecting something runs the steps anew, with what the peer sends whole and in every other split: each run must see
/// the same, send the same and end the same.
struct Conversation: Sendable {
    enum Step: Sendable {
        case receive([UInt8])
        case send(Message)
        case begin(Message.Kind, compress: Bool)
        case piece([UInt8], isLast: Bool)
        /// Gives messages that begin from here on in pieces.
        case stream(ByteCount)
        case ping
        case pingCarrying([UInt8])
        case reset
        case close(CloseCode, String)
        case answerClose
        case fail(WebSocketProtocolError)
        /// Fails the connection with the violation that was seen last.
        case failAsSeen
        case wait(Duration)
        case passDeadline
        case lookAtDeadline
        case peerIsAlive
        case restartMessageTime
        case excuseMessage(Duration)
        case endOfStream
    }

    /// All that can be told about a run when it is over.
    struct Transcript: Equatable, Sendable {
        var seen: [Seen] = []
        var report = CloseReport()
        var state = WebSocketSession.State.open
    }

    let role: WebSocketSession.Role
    var limits = MessageLimits.internet
    var pings = PingPolicy.disabled
    var closeTimeout = Duration.seconds(10)
    /// What was agreed on for permessage-deflate; `nil` for nothing.
    var deflate: DeflateAgreement?
    /// Shorter messages are sent as they are.
    var deflateThreshold = 1_000
    var verifier = SplitVerifier()
    private(set) var steps: [Step] = []

    init(_ role: WebSocketSession.Role, limits: MessageLimits = .internet) {
        self.role = role
        self.limits = limits
    }

    /// The peer sends these frames in one go.
    mutating func receive(_ frames: PeerFrame...) {
        receive(frames)
    }

    /// The peer sends these frames in one go.
    mutating func receive(_ frames: [PeerFrame]) {
        steps.append(.receive(frames.flatMap { $0.bytes(to: role) }))
    }

    /// The peer sends these bytes, whatever they are.
    mutating func receive(bytes: [UInt8]) {
        steps.append(.receive(bytes))
    }

    /// This side does something.
    mutating func perform(_ steps: Step...) {
        self.steps += steps
    }

    /// Runs the steps in every split, and expects just this to be seen.
    ///
    /// - Returns: how it ended.
    @discardableResult
    func expect(_ expected: Seen..., sourceLocation: SourceLocation = #_sourceLocation) -> Transcript {
        expect(expected, sourceLocation: sourceLocation)
    }

    @discardableResult
    func expect(_ expected: [Seen], sourceLocation: SourceLocation = #_sourceLocation) -> Transcript {
        let transcript = run(sourceLocation: sourceLocation)
        #expect(transcript.seen == expected, sourceLocation: sourceLocation)
        return transcript
    }

    /// Runs the steps in every split, and expects the last thing seen to be a violation with that code, after `seen`;
    /// that nothing behind it is parsed, that messages can still be sent, and that failing the connection says why.
    func expectFailing(
        _ closeCode: CloseCode,
        _ code: WebSocketProtocolError.Code,
        after seen: Seen...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var conversation = self
        conversation.receive(.text("behind"), .ping(""), .close(1_000))
        conversation.perform(.send("still here"), .failAsSeen, .failAsSeen, .send("no more"))
        let transcript = conversation.run(sourceLocation: sourceLocation)
        let error = transcript.report.error
        let message = error?.message ?? ""
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.closeCode == closeCode, sourceLocation: sourceLocation)
        #expect(
            transcript.seen == seen + [
                .violation(error ?? WebSocketProtocolError(code, "")), .sent(.text("still here")),
                .sent(.close(closeCode.rawValue, message)),
            ],
            sourceLocation: sourceLocation
        )
        #expect(transcript.report.initiator == .local, sourceLocation: sourceLocation)
        #expect(transcript.report.code == .abnormalClosure, sourceLocation: sourceLocation)
        #expect(transcript.state == .closing, sourceLocation: sourceLocation)
    }

    /// Runs the steps in every split.
    func run(sourceLocation: SourceLocation = #_sourceLocation) -> Transcript {
        let received = steps.flatMap { step -> [UInt8] in if case .receive(let bytes) = step { bytes } else { [] } }
        let report = verifier.report(on: received) { ConversationRun(self).play(steps, pieces: $0) }
        if !report.isUniform { Issue.record("\(report)", sourceLocation: sourceLocation) }
        return ConversationRun(self).play(steps, pieces: [received])
    }
}
