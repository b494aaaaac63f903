// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import HTTPTypes
import Testing

@testable import DuplexWire

@Suite struct HTTPServerSessionTests {
    @Test("Requests are taken one at a time: the next one stays in the input until the response has ended")
    func pipelining() {
        let server = ScriptedServer()
        #expect(server.receive(wire("GET /1 HTTP/1.1\nHost: a\n\nGET /2 HTTP/1.1\nHost: a\n\n")) == ["GET /1"])
        #expect(server.session.isAnswering && !server.session.takesInput)
        #expect(server.receive([]) == [])
        server.answer("one")
        #expect(server.receive([]) == ["GET /2"])
        #expect(server.answer("two") == .next)
        #expect(server.receive([]) == [])
        #expect(server.session.takesInput && !server.session.isAnswering)
    }

    @Test(
        "Every split of requests gives the same events",
        arguments: [
            "GET /1 HTTP/1.1\nHost: a\n\nPOST /2 HTTP/1.1\nHost: a\nContent-Length: 5\n\nhelloGET /3 HTTP/1.1\nHost: a\n\n",
            "POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n3\nabc\n2;x\nde\n0\nT: 1\n\nGET /2 HTTP/1.1\nHost: a\n\n",
            "\nGET / HTTP/1.1\nHost: a\nConnection: close\n\nGET /never HTTP/1.1\nHost: a\n\n",
            "GET / HTTP/1.1\nHost: a\n\nnonsense\n\n",
            "POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n3\nabcd\n",
            "POST / HTTP/1.0\nHost: a\nContent-Length: 1\nConnection: keep-alive\n\nxGET / HTTP/1.0\n\n",
        ]
    )
    func splits(text: String) {
        expectSameInEverySplit(wire(text)) { pieces in
            let server = ScriptedServer()
            server.answersAtEnd = true
            var events: [String] = []
            for piece in pieces { events += server.receive(piece) }
            return ScriptedServer.joined(events) + [String(decoding: server.output, as: UTF8.self)]
        }
    }

    @Test("A body comes in pieces, with its end and its trailers")
    func bodies() {
        let server = ScriptedServer()
        #expect(
            server.receive(wire("POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n2\nab")) == [
                "POST /", "body ab",
            ]
        )
        #expect(server.receive(wire("\n1\nc\n0\nX-Sum: 3\n\n")) == ["body c", "end X-Sum=3"])
    }

    @Test("A head that is wrong is a violation, answered once, and the connection ends")
    func violation() {
        let server = ScriptedServer()
        #expect(server.receive(wire("GET / HTTP/1.1\n\nGET / HTTP/1.1\nHost: a\n\n")) == ["violation 400"])
        #expect(server.session.isOver && server.session.isAnswering)
        #expect(server.answer("no", status: .badRequest) == .close)
        #expect(server.text.contains("Connection: close\r\n"))
        #expect(server.receive([]) == [])
    }

    @Test("A body is bounded by the limit that the route has, before anything of it is taken")
    func bodyLimit() throws {
        var session = HTTPServerSession(now: .start)
        let input = wire("POST / HTTP/1.1\nHost: a\nContent-Length: 11\n\nhello world")
        var position = 0
        guard case .request(let head) = session.next(input.span, from: &position, now: .start) else {
            Issue.record("There is no request.")
            return
        }
        var limits = HTTPLimits.internet
        limits.bodySize = 10
        guard case .violation(let error) = session.limitBody(of: head, to: limits, now: .start) else {
            Issue.record("The body isn't too large.")
            return
        }
        #expect(error.status == .contentTooLarge && session.isOver)
    }

    @Test("A body that is larger than the server's limit for others is taken where the route allows it")
    func largerBody() {
        let server = ScriptedServer(HTTPServerSession.Settings(limits: .internet.with(bodySize: 2)))
        server.bodySize = 5
        #expect(
            server.receive(wire("POST / HTTP/1.1\nHost: a\nContent-Length: 5\n\nhello")) == [
                "POST /", "body hello", "end",
            ]
        )
    }

    @Test("What the app doesn't take of a body is read past, and the connection goes on")
    func discarding() {
        let server = ScriptedServer()
        #expect(server.receive(wire("POST / HTTP/1.1\nHost: a\nContent-Length: 10\n\nhel")) == ["POST /", "body hel"])
        #expect(server.answer("early") == .next)
        #expect(!server.text.contains("Connection"))
        #expect(server.receive(wire("lo12345GET /2 HTTP/1.1\nHost: a\n\n")) == ["GET /2"])
    }

    @Test("Of a body that is too long to be read past the head says that the connection ends")
    func tooLongToDiscard() {
        let server = ScriptedServer(HTTPServerSession.Settings(discardSize: 4))
        #expect(server.receive(wire("POST / HTTP/1.1\nHost: a\nContent-Length: 10\n\n")) == ["POST /"])
        #expect(server.answer("early") == .close)
        #expect(server.text.contains("Connection: close\r\n"))
    }

    @Test("A body in chunks is read past up to the bound, and then the connection is over, without a further answer")
    func chunksBeyondBound() {
        let server = ScriptedServer(HTTPServerSession.Settings(discardSize: 16))
        #expect(server.receive(wire("POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n")) == ["POST /"])
        #expect(server.answer("early") == .next)
        #expect(server.receive(wire("4\nabcd\n4\nabcd\n4\nabcd\n")) == [])
        #expect(server.session.isOver && !server.session.isAnswering && server.session.leavesBody)
    }

    @Test("What is wrong with a body that nobody wants is answered by nobody: the response has gone")
    func wrongBehindResponse() {
        let server = ScriptedServer()
        #expect(server.receive(wire("POST / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n")) == ["POST /"])
        server.answer("early")
        let sent = server.output.count
        #expect(server.receive(wire("nonsense\n")) == [])
        #expect(server.session.isOver && !server.session.isAnswering && server.output.count == sent)
    }

    // MARK: Ends

    @Test("A client that ends its side gets its answer, and the connection ends behind it")
    func halfClosed() {
        let server = ScriptedServer()
        #expect(server.receive(wire("GET / HTTP/1.1\nHost: a\n\n")) == ["GET /"])
        #expect(server.session.inputEnded() == nil)
        #expect(server.answer("still") == .close)
        #expect(server.text.contains("Connection: close\r\n"))
    }

    @Test(
        "Requests in front of a client's end are answered in order, however late, and the last response ends the connection",
        arguments: [
            ("GET /1 HTTP/1.1\nHost: a\n\nGET /2 HTTP/1.1\nHost: a\n\n", ["GET /1", "GET /2"]),
            ("GET /1 HTTP/1.0\nConnection: keep-alive\n\nGET /2 HTTP/1.0\n\n", ["GET /1", "GET /2"]),
            (
                "GET /1 HTTP/1.1\nHost: a\n\nPOST /2 HTTP/1.1\nHost: a\nExpect: 100-continue\nContent-Length: 2\n\nab",
                ["GET /1", "POST /2", "body ab", "end"]
            ),
            (
                "GET /1 HTTP/1.1\nHost: a\n\nPOST /2 HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n2\nab\n",
                ["GET /1", "POST /2", "body ab", "violation 400"]
            ),
        ]
    )
    func endBehindRequests(text: String, expected: [String]) {
        let run = { (pieces: [[UInt8]]) in
            let server = ScriptedServer()
            var events: [String] = []
            for piece in pieces { events += server.receive(piece) }
            events += server.endInput()
            return ScriptedServer.joined(events) + [server.text, "\(server.session.hasEnded)"]
        }
        expectSameInEverySplit(wire(text), run: run)
        let outcome = run([wire(text)])
        #expect(outcome.dropLast(2) == expected[...] && outcome.last == "true")
        let responses = outcome[outcome.count - 2].split(separator: "HTTP/1.1 200")
        #expect(responses.count == 2 && responses.allSatisfy { $0.hasSuffix("late") })
        #expect(responses.map { $0.contains("Connection: close\r\n") } == [false, true])
    }

    @Test("A body that is cut short is a violation, a head that is cut short isn't worth an answer")
    func cutShort() {
        let server = ScriptedServer()
        #expect(server.receive(wire("POST / HTTP/1.1\nHost: a\nContent-Length: 3\n\na")) == ["POST /", "body a"])
        guard case .violation(let error) = server.session.inputEnded() else {
            Issue.record("Nothing is wrong with it.")
            return
        }
        #expect(error.code == .truncated && error.status == .badRequest)
        let other = ScriptedServer()
        #expect(other.receive(wire("GET / HT")) == [])
        #expect(other.session.inputEnded() == nil)
        #expect(other.session.isOver && !other.session.isAnswering)
    }

    @Test("A session that is shut down ends at once when it is idle, and else behind its response")
    func shutDown() {
        let idle = ScriptedServer()
        idle.session.shutDown()
        #expect(idle.session.isOver && !idle.session.leavesBody)
        let busy = ScriptedServer()
        #expect(busy.receive(wire("GET / HTTP/1.1\nHost: a\n\n")) == ["GET /"])
        busy.session.shutDown()
        #expect(busy.answer("last") == .close)
        let midHead = ScriptedServer()
        #expect(midHead.receive(wire("GET / HTTP/1.1\n")) == [])
        midHead.session.shutDown()
        #expect(midHead.receive(wire("Host: a\n\n")) == ["GET /"])
        #expect(midHead.answer("last") == .close)
    }

    // MARK: Time

    @Test("The first head and every head from its first byte on have headTime; between requests there is the idle time")
    func headTime() {
        let server = ScriptedServer(
            HTTPServerSession.Settings(limits: .internet.with(headTime: .seconds(10)), idleTime: .seconds(60))
        )
        #expect(server.session.deadline == .after(10))
        #expect(server.receive(wire("GET / HTTP/1.1\nHost: a\n\n"), at: .after(3)) == ["GET /"])
        #expect(server.session.deadline == nil)
        server.answer("", at: .after(5))
        #expect(server.session.deadline == .after(65))
        #expect(server.receive(wire("GE"), at: .after(20)) == [])
        #expect(server.session.deadline == .after(30))
        #expect(server.receive(wire("T /"), at: .after(29)) == [])
        #expect(server.session.timeOut(now: .after(29)) == nil && !server.session.isOver)
        guard case .violation(let error) = server.session.timeOut(now: .after(30)) else {
            Issue.record("The head isn't late.")
            return
        }
        #expect(error.status == .requestTimeout)
    }

    @Test("A connection that is idle for too long is over, without a word")
    func idle() {
        let server = ScriptedServer()
        #expect(server.session.timeOut(now: .after(10)) == nil)
        #expect(server.session.isOver && !server.session.isAnswering)
    }

    @Test("A body that is too slow gets 408, and the time in which the app takes nothing isn't the client's")
    func bodyPace() {
        let server = ScriptedServer(HTTPServerSession.Settings(limits: .internet.with(headTime: .seconds(10))))
        #expect(server.receive(wire("POST / HTTP/1.1\nHost: a\nContent-Length: 9\n\n"), at: .after(0)) == ["POST /"])
        #expect(server.session.deadline == .after(10))
        server.session.pauseBody(now: .after(4))
        #expect(server.session.deadline == nil)
        server.session.resumeBody(now: .after(104))
        #expect(server.session.deadline == .after(110))
        guard case .violation(let error) = server.session.timeOut(now: .after(110)) else {
            Issue.record("The body isn't late.")
            return
        }
        #expect(error.status == .requestTimeout)
    }
}
