// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

@testable import DuplexWire

/// A session with the loop around it that a server has, and what came of it in words.
///
/// A class, since a session can't be copied.
final class ScriptedServer {
    var session: HTTPServerSession
    var output: [UInt8] = []
    /// The bound of the bodies of its one route.
    var bodySize: ByteCount = .mebibytes(1)
    /// Whether each request is answered as soon as it is whole.
    var answersAtEnd = false
    private(set) var kept: [UInt8] = []

    init(_ settings: HTTPServerSession.Settings = HTTPServerSession.Settings()) {
        session = HTTPServerSession(settings, now: .start)
    }

    var isOver: Bool { session.isOver }
    var isAnswering: Bool { session.isAnswering }
    var text: String { String(decoding: output, as: UTF8.self) }

    /// Feeds bytes behind those that weren't taken before.
    func receive(_ bytes: [UInt8], at now: Instant = .start) -> [String] {
        let input = kept + bytes
        var position = 0
        var events: [String] = []
        while let event = session.next(input.span, from: &position, now: now) {
            events.append(describe(event, input, now))
        }
        kept = Array(input[position...])
        return events
    }

    /// Has the client end its side, and answers each request late, until nothing more is to come.
    ///
    /// As an owner does, it passes the end on once all that came before it is taken.
    func endInput() -> [String] {
        var events: [String] = []
        while true {
            if kept.isEmpty, let event = session.inputEnded() { events.append(describe(event, [], .start)) }
            guard session.isAnswering else { return events }
            answer("late")
            events += receive([])
        }
    }

    private func describe(_ event: HTTPServerSession.Event, _ input: [UInt8], _ now: Instant) -> String {
        switch event {
        case .request(let head):
            _ = session.limitBody(of: head, to: .internet.with(bodySize: bodySize), now: now)
            if answersAtEnd && head.framing == .none { answer("answer") }
            return "\(head.method.rawValue) \(head.target)"
        case .body(let range): return "body " + String(decoding: input[range], as: UTF8.self)
        case .end(let trailers):
            if answersAtEnd { answer("answer") }
            return (["end"] + trailers.map { "\($0.name.rawName)=\($0.value)" }).joined(separator: " ")
        case .violation(let error):
            if answersAtEnd { answer(error.message, status: error.status) }
            return "violation \(error.status.code)"
        }
    }

    /// Answers with a text.
    @discardableResult
    func answer(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        _ headers: HTTPFields = [:],
        length: ResponseLength? = nil,
        at now: Instant = .start
    ) -> HTTPServerSession.Outcome? {
        do {
            let bytes = Array(text.utf8)
            try session.writeHead(ResponseStart(status), headers, length: length ?? .bytes(bytes.count), into: &output)
            try session.writePiece(bytes.span.raw, into: &output)
            return session.endResponse(now: now, into: &output)
        } catch {
            return nil
        }
    }

    /// The events with pieces of bodies that follow each other put together: where they are cut is the input's.
    static func joined(_ events: [String]) -> [String] {
        var joined: [String] = []
        for event in events {
            if event.hasPrefix("body "), let last = joined.last, last.hasPrefix("body ") {
                joined[joined.count - 1] = last + event.dropFirst(5)
            } else {
                joined.append(event)
            }
        }
        return joined
    }
}

extension HTTPServerSession.Event: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.request(let left), .request(let right)): left == right
        case (.body(let left), .body(let right)): left == right
        case (.end(let left), .end(let right)): left == right
        case (.violation(let left), .violation(let right)): left == right
        default: false
        }
    }
}

extension Instant {
    /// When the tests of sessions begin.
    static let start = Instant(nanoseconds: 0)

    static func after(_ seconds: Int) -> Instant { start.advanced(by: .seconds(seconds)) }
}
