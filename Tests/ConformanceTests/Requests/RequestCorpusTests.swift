// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

/// RFC 9110, 9112 and 6585: requests of all kinds, most of them wrong, with the answer to each.
@Suite struct RequestCorpusTests {
    /// What a session tells of a case as it arrives in those pieces.
    private static func play(_ pieces: [[UInt8]], isCut: Bool) -> [String] {
        var player = SessionPlayer()
        for piece in pieces { player.receive(piece) }
        if isCut { player.end() }
        return player.transcript
    }

    /// Whether a session, which refuses nothing for an app, has told that.
    private static func matches(_ transcript: [String], _ request: RequestCase) -> Bool {
        guard transcript.count == request.answers.count + 1, transcript.last == request.transcript.last else {
            return false
        }
        return zip(transcript, request.answers).allSatisfy { line, answer in
            answer.isTaken ? line.hasPrefix("200 ") : line == answer.text
        }
    }

    @Test("The corpus is large, and each of its cases has a name of its own")
    func size() throws {
        let names = try RequestCorpus.families.flatMap { try RequestCorpus.cases(of: $0) }.map(\.name)
        #expect(names.count >= 700)
        #expect(Set(names).count == names.count)
    }

    @Test("The session takes each request in every split as the RFCs say", arguments: RequestCorpus.families)
    func session(family: String) async throws {
        for request in try RequestCorpus.cases(of: family) where !request.waits {
            let bytes = request.bytes
            // Long ones are long in one place; what follows from where they are cut is seen in the others.
            let isLong = bytes.count > 700
            let verifier = SplitVerifier(randomSplits: isLong ? 2 : 8, positions: isLong ? 32 : 1_024)
            let report = verifier.report(on: bytes) { Self.play($0, isCut: request.isCut) }
            #expect(report.isUniform, "\(request): \(report)")
            let transcript = Self.play([bytes], isCut: request.isCut)
            #expect(Self.matches(transcript, request), "\(request): \(transcript), not \(request.transcript)")
            await Task.yield()
        }
    }

    @Test("A server answers each over a socket as the RFCs say", arguments: RequestCorpus.families)
    func server(family: String) async throws {
        let cases = try RequestCorpus.cases(of: family)
        try await withServer { server in
            server.answerCorpus()
        } _: { address in
            for request in cases {
                let peer = try await RawPeer.connect(to: address)
                let transcript = try await request.play(on: peer)
                #expect(transcript == request.transcript, "\(request)")
                await peer.close()
            }
        }
    }

    @Test("And as they come byte by byte, in memory, where nothing is slow", arguments: RequestCorpus.families)
    func byteByByte(family: String) async throws {
        try await withMemoryServer { server in
            server.answerCorpus()
        } _: { server in
            for request in try RequestCorpus.cases(of: family) where request.bytes.count < 700 {
                let peer = await server.connect()
                let transcript = try await request.play(on: peer, byteByByte: true)
                #expect(transcript == request.transcript, "\(request)")
                await peer.close()
            }
        }
    }
}

/// A session with a server around it that answers each request as soon as it is whole.
private struct SessionPlayer: ~Copyable {
    private static let now = Instant(nanoseconds: 0)
    private static let limits = HTTPLimits.internet.with(bodySize: .kibibytes(4))

    private var session = HTTPServerSession(HTTPServerSession.Settings(limits: limits), now: now)
    private var kept: [UInt8] = []
    private var head: RequestHead?
    private var body: [UInt8] = []
    private var output: [UInt8] = []
    private var lines: [String] = []

    /// The answers, and whether the connection goes on.
    var transcript: [String] { lines + [session.hasEnded ? "close" : "open"] }

    mutating func receive(_ piece: [UInt8]) {
        let input = kept + piece
        var position = 0
        while let event = session.next(input.span, from: &position, now: Self.now) { take(event, input) }
        kept = Array(input[position...])
    }

    mutating func end() {
        if let event = session.inputEnded() { take(event, []) }
    }

    private mutating func take(_ event: HTTPServerSession.Event, _ input: [UInt8]) {
        switch event {
        case .request(let head):
            self.head = head
            body = []
            if let violation = session.limitBody(of: head, to: Self.limits, now: Self.now) {
                return take(violation, input)
            }
            session.wantBody(into: &output)
            if head.framing == .none { answer(.ok) }
        case .body(let range): body += input[range]
        case .end: answer(.ok)
        case .violation(let error): answer(error.status)
        }
    }

    private mutating func answer(_ status: HTTPResponse.Status) {
        var line = "\(status.code)"
        if status == .ok, let head {
            line += " " + RequestCase.summary(method: head.method.rawValue, target: head.target, body: body)
        }
        lines.append(line)
        do throws(HTTPProtocolError) {
            _ = try session.writeResponse(
                ResponseStart(status),
                body: [UInt8]().span.raw,
                now: Self.now,
                into: &output
            )
        } catch {
            lines.append("\(error)")
        }
    }
}
