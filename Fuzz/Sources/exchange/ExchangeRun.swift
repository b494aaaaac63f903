// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport
import HTTPTypes

@testable import DuplexWire

/// An event whose bytes have been copied out, so that it can be compared.
enum Seen: Equatable {
    case request(HTTPRequest.Method, target: String, HTTPVersion, HTTPFields)
    /// The pieces of a body that came one behind the other, put together: where they are cut differs by the split.
    case body([UInt8])
    case end(HTTPFields)
    case violation(HTTPProtocolError)
    case answered(HTTPServerSession.Outcome)
}

/// All that can be told about a run.
struct Outcome: Equatable {
    var events: [Seen] = []
    var output: [UInt8] = []
    /// What was answered: its number, its status and the method that it answers.
    var answers: [Answer] = []
    var isOver = false
}

/// A response that the app has given.
struct Answer: Equatable {
    var status: HTTPResponse.Status
    var method: HTTPRequest.Method
    var body: [UInt8]
}

/// A session with an app that answers as it is told to, and tries to write what only the session may.
final class ExchangeRun {
    private var session: HTTPServerSession
    private let limits: HTTPLimits
    private let options: UInt8
    private let now = Instant(nanoseconds: 0)
    private var outcome = Outcome()
    /// What has come and wasn't taken: the next requests.
    private var pending: [UInt8] = []
    /// The head of the request before.
    private var last: RequestHeadText?
    private var head: RequestHead?

    init(options: UInt8) {
        self.options = options
        var settings = HTTPServerSession.Settings()
        if options & 1 != 0 {
            settings.limits.headSize = 128
            settings.limits.headFields = 4
            settings.limits.bodySize = 32
            settings.discardSize = 16
        }
        limits = settings.limits
        session = HTTPServerSession(settings, now: now)
    }

    private var answersAtOnce: Bool { options & 2 != 0 }
    private var hasKnownLength: Bool { options & 4 != 0 }
    private var wantsBodies: Bool { options & 8 != 0 }
    private var answersLate: Bool { options & 16 != 0 }
    private var status: HTTPResponse.Status {
        switch options >> 5 & 3 {
        case 0: .ok
        case 1: .noContent
        case 2: .notModified
        default: .notFound
        }
    }

    func receive(_ piece: [UInt8]) {
        pending += piece
        take()
    }

    private func take() {
        var position = 0
        while let event = session.next(pending.span, from: &position, now: now, last: last) { note(event) }
        require(!session.takesInput || position == pending.count, "bytes were left that the session would take")
        pending.removeFirst(position)
        if session.isOver { pending = [] }
    }

    private func note(_ event: HTTPServerSession.Event) {
        if case .violation = outcome.events.last { require(false, "something came behind a violation") }
        switch event {
        case .request(let head):
            last = head.text
            begin(head)
        case .body(let range): add(Array(pending[range]))
        case .end(let trailers):
            outcome.events.append(.end(trailers))
            if !answersAtOnce && !answersLate { answer(status) }
        case .violation(let error):
            outcome.events.append(.violation(error))
            answer(error.status)
        }
    }

    private func begin(_ head: RequestHead) {
        require(self.head == nil, "a request came before the last one was answered")
        outcome.events.append(.request(head.method, target: head.target, head.version, head.headers))
        self.head = head
        if let violation = session.limitBody(of: head, to: limits, now: now) {
            note(violation)
            return
        }
        if wantsBodies { session.wantBody(into: &outcome.output) }
        let isWhole = head.framing == .none
        if !answersLate && (answersAtOnce || isWhole) { answer(status) }
    }

    private func add(_ bytes: [UInt8]) {
        require(!bytes.isEmpty, "a piece of a body is empty")
        if case .body(let before) = outcome.events.last {
            outcome.events[outcome.events.count - 1] = .body(before + bytes)
        } else {
            outcome.events.append(.body(bytes))
        }
    }

    private func answer(_ status: HTTPResponse.Status) {
        let method = head?.method ?? .get
        let body = Array("response \(outcome.answers.count)".utf8)
        head = nil
        var headers = Self.hostile
        headers[.xNumber] = "\(outcome.answers.count)"
        do throws(HTTPProtocolError) {
            let length = hasKnownLength ? ResponseLength.bytes(body.count) : .unknown
            try session.writeHead(
                ResponseStart(status, mediaType: "text/plain"),
                headers,
                length: length,
                into: &outcome.output
            )
            for piece in [Array(body[..<3]), Array(body[3...])] {
                let span = piece.span
                // Any byte may be read as raw bytes.
                let raw = unsafe span.bytes
                try session.writePiece(raw, into: &outcome.output)
            }
        } catch {
            require(false, "a response can't be written: \(error)")
        }
        outcome.answers.append(Answer(status: status, method: method, body: body))
        let end = session.endResponse(trailers: Self.hostile, now: now, into: &outcome.output)
        outcome.events.append(.answered(end))
        if end != .next { require(session.isOver, "a session that is to be closed takes more") }
    }

    /// What an app must not get onto the wire.
    private static let hostile: HTTPFields = {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .transferEncoding, value: "gzip"))
        headers.append(HTTPField(name: .connection, value: "keep-alive, X-Evil"))
        headers.append(HTTPField(name: .xText, value: "a\r\nX-Evil: 1\r\n\r\nHTTP/1.1 200 OK"))
        return headers
    }()

    /// Has everything answered that waits, ends the stream, and checks what was sent.
    func end() -> Outcome {
        while let head, answersLate, head.framing == .none || isEnded {
            answer(status)
            take()
        }
        if let event = session.inputEnded() { note(event) }
        outcome.isOver = session.isOver
        WireCheck(outcome).run()
        return outcome
    }

    private var isEnded: Bool {
        if case .end = outcome.events.last { true } else { false }
    }
}

extension HTTPField.Name {
    static let xNumber = HTTPField.Name("X-Number") ?? .eTag
    static let xText = HTTPField.Name("X-Text") ?? .eTag
    static let xEvil = HTTPField.Name("X-Evil") ?? .eTag
}
