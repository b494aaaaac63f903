// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

/// The same frames give an app the same messages and the same end, however their bytes come: with the handshake, in one read, one by one,
/// or after more messages than the inbox holds (RFC 6455 sections 5 to 7).
@Suite(.timeLimit(minutes: 2)) struct WebSocketArrivalsTests {
    /// The frames of a peer, and their effect.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let frames: [RawFrame]
        /// How many bytes of the last frame never come.
        var missing = 0
        var endsStream = false
        var messages: [Message] = []
        let error: WebSocketError.Code
        /// The code of the close frame that the peer gets.
        let answer: UInt16?
    }

    /// How the bytes come.
    enum Way: CaseIterable {
        case withHandshake, atOnce, byteByByte, behindFullInbox
    }

    static let cases = [
        Case(testDescription: "a close", frames: [.close(1_001)], error: .closed, answer: 1_001),
        Case(
            testDescription: "messages and a close",
            frames: [.text("a"), .binary([1]), .close(1_000)],
            messages: [.text("a"), .binary([1])],
            error: .closed,
            answer: 1_000
        ),
        Case(
            testDescription: "a message in frames around a ping, and a close",
            frames: [.text("a", isFinal: false), .ping(), .continuation(Array("b".utf8)), .close(1_000)],
            messages: [.text("ab")],
            error: .closed,
            answer: 1_000
        ),
        Case(
            testDescription: "half a message and a close",
            frames: [.text("a"), .text("b", isFinal: false), .close(1_000)],
            messages: [.text("a")],
            error: .closed,
            answer: 1_000
        ),
        Case(
            testDescription: "more after a close",
            frames: [.text("a"), .close(1_000), .text("b"), RawFrame(0x3)],
            messages: [.text("a")],
            error: .closed,
            answer: 1_000
        ),
        Case(
            testDescription: "a reserved bit",
            frames: [.text("a"), RawFrame(0x1, reservedBits: 0x40), .text("b")],
            messages: [.text("a")],
            error: .protocolViolation,
            answer: 1_002
        ),
        Case(
            testDescription: "a reserved opcode",
            frames: [.text("a"), RawFrame(0x3), .text("b")],
            messages: [.text("a")],
            error: .protocolViolation,
            answer: 1_002
        ),
        Case(
            testDescription: "a text that isn't UTF-8",
            frames: [.text("a"), RawFrame(0x1, [0xC3, 0x28]), .text("b")],
            messages: [.text("a")],
            error: .protocolViolation,
            answer: 1_007
        ),
        Case(
            testDescription: "a message above the limit",
            frames: [.text("a"), .binary(Array(repeating: 1, count: 65)), .text("b")],
            messages: [.text("a")],
            error: .protocolViolation,
            answer: 1_009
        ),
        Case(
            testDescription: "a close with a code that isn't sent",
            frames: [.text("a"), .close(1_005)],
            messages: [.text("a")],
            error: .protocolViolation,
            answer: 1_002
        ),
        Case(
            testDescription: "a message and the end of the stream",
            frames: [.text("a")],
            endsStream: true,
            messages: [.text("a")],
            error: .connectionLost,
            answer: nil
        ),
        Case(
            testDescription: "half a header and the end of the stream",
            frames: [.text("a"), .close()],
            missing: 1,
            endsStream: true,
            messages: [.text("a")],
            error: .connectionLost,
            answer: nil
        ),
        Case(
            testDescription: "half a payload and the end of the stream",
            frames: [.text("a"), .text("bc")],
            missing: 1,
            endsStream: true,
            messages: [.text("a")],
            error: .connectionLost,
            answer: nil
        ),
    ]

    /// The app's messages, and the error that ended them.
    struct Outcome: Equatable {
        var messages: [Message] = []
        var error: WebSocketError.Code?
    }

    /// The app: takes all that comes, once it may.
    private static func take(_ socket: WebSocket, after gate: Bulletin<Bool>) async throws -> Outcome {
        _ = try await gate.wait { $0 ? true : nil }
        var outcome = Outcome()
        do {
            while true { outcome.messages.append(try await socket.receive()) }
        } catch let error as WebSocketError {
            outcome.error = error.code
        }
        return outcome
    }

    private static let limits: MessageLimits = {
        var limits = MessageLimits.internet
        limits.messageSize = .bytes(64)
        return limits
    }()

    /// More than the inbox holds.
    private static let crowd = (0..<100).map { RawFrame.text("\($0)") }

    private static func bytes(of entry: Case, _ way: Way, from peer: RawPeer) -> [UInt8] {
        let frames = (way == .behindFullInbox ? crowd : []) + entry.frames
        return Array(frames.flatMap { peer.encoded($0) }.dropLast(entry.missing))
    }

    private static func expected(_ entry: Case, _ way: Way) -> Outcome {
        let crowd = way == .behindFullInbox ? crowd.map { Message.text($0.text) } : []
        return Outcome(messages: crowd + entry.messages, error: entry.error)
    }

    /// Plays the peer from the head of its handshake on, and lets the app take what has come.
    ///
    /// - Returns: the code of the close frame that comes back.
    private static func play(
        _ entry: Case,
        _ way: Way,
        _ peer: RawPeer,
        head: String,
        _ gate: Bulletin<Bool>,
        isAnswered: Bool = false
    ) async throws -> UInt16? {
        let bytes = bytes(of: entry, way, from: peer)
        try await peer.send(Array(head.utf8) + (way == .withHandshake ? bytes : []))
        if isAnswered { #expect(try await peer.readResponse().status == 101) }
        switch way {
        case .withHandshake: break
        case .byteByByte: try await peer.sendByteByByte(bytes)
        case .atOnce, .behindFullInbox: try await peer.send(bytes)
        }
        if entry.endsStream { await peer.finishWriting() }
        gate.change { $0 = true }
        let code = try? await peer.readFrame { $0.opcode == 0x8 }.closeCode
        await peer.close()
        return code
    }

    @Test("A client", arguments: cases, Way.allCases)
    func client(_ entry: Case, _ way: Way) async throws {
        try await withListener { url, accept in
            let gate = Bulletin(way != .behindFullInbox)
            var options = WebSocketOptions()
            options.limits = Self.limits
            async let outcome = Self.take(try await WebSocket.connect(to: url, options: options.patient), after: gate)
            let peer = try await accept()
            let head = RawPeer.upgradeResponse(to: try await peer.readHead())
            let answer = try await Self.play(entry, way, peer, head: head, gate)
            #expect(try await outcome == Self.expected(entry, way))
            #expect(answer == entry.answer)
        }
    }

    @Test("A server", arguments: cases, Way.allCases)
    func server(_ entry: Case, _ way: Way) async throws {
        let gate = Bulletin(way != .behindFullInbox)
        let outcomes = Bulletin<Outcome?>(nil)
        try await withServer { server in
            server.webSocket("/", .limits(Self.limits)) { socket in
                let outcome = try await Self.take(socket, after: gate)
                outcomes.change { $0 = outcome }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let answer = try await Self.play(entry, way, peer, head: RawPeer.upgradeRequest(), gate, isAnswered: true)
            let outcome = try await outcomes.wait { $0 }
            #expect(outcome == Self.expected(entry, way))
            #expect(answer == entry.answer)
        }
    }
}
