// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexWebSockets

@Suite struct ReconnectingAttemptTests {
    private func kind(_ error: any Error) -> ReconnectFailure.Kind { ReconnectFailure(error).kind }

    private func refusal(_ status: Int, _ headers: HTTPFields = [:]) -> WebSocketError {
        let head = ResponseHead(status: HTTPResponse.Status(code: status), headers: headers)
        let cause = HandshakeError(.refused, "no", response: head)
        return WebSocketError(.handshakeRefused, message: "no", cause: cause)
    }

    @Test("What an attempt fails with becomes what is decided by")
    func kinds() {
        struct Own: Error {}
        func unreachable(_ code: SocketError.Code) -> WebSocketError {
            WebSocketError(.cannotConnect, message: "", cause: SocketError(code, message: ""))
        }
        func answered(_ code: HandshakeError.Code) -> WebSocketError {
            WebSocketError(.handshakeRefused, message: "", cause: HandshakeError(code, ""))
        }
        let cases: [(any Error, ReconnectFailure.Kind)] = [
            (refusal(503), .refused(status: 503)), (refusal(404), .refused(status: 404)),
            (unreachable(.cannotConnect), .network), (unreachable(.unknownHost), .network),
            (unreachable(.nameServiceFailed), .network), (unreachable(.connectionReset), .network),
            (unreachable(.truncated), .network), (unreachable(.tls), .network), (unreachable(.timedOut), .timedOut),
            (unreachable(.untrustedPeer), .untrusted), (unreachable(.invalidOptions), .invalidRequest),
            (answered(.acceptMismatch), .badAnswer), (answered(.malformedResponse), .badAnswer),
            (answered(.connectionClosed), .network), (WebSocketError(.timedOut, message: ""), .timedOut),
            (WebSocketError(.invalidURL, message: ""), .invalidRequest),
            (WebSocketError(.invalidRequest, message: ""), .invalidRequest),
            (WebSocketError(.invalidRequest, message: "", cause: Own()), .configurationFailed),
            (Own(), .configurationFailed),
            (SocketError(.connectionReset, message: ""), .network),
        ]
        for (error, expected) in cases { #expect(kind(error) == expected, "\(error)") }
    }

    @Test("The error stays below it, and is what a client gives up with; the caller's own is the cause of one")
    func causes() throws {
        struct Own: Error {}
        let refused = refusal(503)
        #expect((ReconnectFailure(refused).cause as? WebSocketError)?.handshake?.status?.code == 503)
        #expect(ReconnectFailure(refused).error.code == .handshakeRefused)
        #expect(ReconnectFailure(Own()).cause is Own && ReconnectFailure.unprepared(Own()).cause is Own)
        let unprepared = ReconnectFailure.unprepared(Own()).error
        #expect(unprepared.code == .configurationFailed && unprepared.cause is Own)
        #expect(unprepared.message == "The last attempt has failed: not prepared: Own()")
        let lost = ReconnectFailure(SocketError(.connectionReset, message: "reset"))
        #expect(lost.cause is SocketError && lost.error.code == .connectionLost && lost.error.cause is SocketError)
    }

    @Test("What a server says of the time is kept")
    func retryAfter() {
        var headers = HTTPFields()
        headers[.retryAfter] = "17"
        #expect(ReconnectFailure(refusal(503, headers)).retryAfter == .seconds(17))
        #expect(ReconnectFailure(refusal(503)).retryAfter == nil)
    }

    private func attempt(_ timeout: Duration?, _ options: ReconnectOptions = .init()) -> ReconnectingAttempt {
        ReconnectingAttempt(
            loop: EventLoopGroup.shared.next(),
            attempt: ReconnectAttempt(number: 1, url: 0, timeout: timeout),
            url: "ws://127.0.0.1:1/",
            options: options,
            onOpen: nil,
            durations: options.durations
        )
    }

    @Test("The time of an attempt is the shorter of the options' and the policy's")
    func limits() {
        let limits = [nil, Duration.seconds(3), .seconds(300)].map { attempt($0).limit }
        #expect(limits == [.seconds(30), .seconds(3), .seconds(30)])
    }

    @Test("An attempt with a duration that can't be used has no limit, and fails with the error that names it")
    func unusable() async {
        var options = ReconnectOptions()
        options.attemptTimeout = .zero
        let attempt = attempt(.zero, options)
        #expect(attempt.limit == nil)
        let failure = await #expect(throws: ReconnectFailure.self) { _ = try await attempt.run() }
        #expect(failure?.error.code == .invalidArgument)
    }

    @Test("An attempt whose time is spent has timed out, and isn't configured")
    func late() async {
        var options = ReconnectOptions()
        options.configure = { _ in Issue.record("It was configured.") }
        let attempt = attempt(.zero, options)
        let failure = await #expect(throws: ReconnectFailure.self) { _ = try await attempt.run() }
        #expect(failure?.kind == .timedOut && failure?.error.code == .timedOut)
    }
}
