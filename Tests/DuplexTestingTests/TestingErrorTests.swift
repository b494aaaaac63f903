// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexTesting

@Suite("Why the test of a server failed beside what the test found")
struct TestingErrorTests {
    @Test("It says what happened, and which handlers were at work")
    func description() {
        let left = TestingError.handlersLeft(["GET /slow", "WebSocket /chat"])
        #expect(left.code == .handlersLeft && left.routes.count == 2)
        #expect(
            "\(left)" == """
                The server has ended, and handlers go on although they were cancelled. \
                Handlers at work: GET /slow, WebSocket /chat.
                """
        )
        let late = TestingError.outOfTime(.seconds(60), after: .milliseconds(1_500), [])
        #expect(late.code == .outOfTime && "\(late.code)" == "outOfTime")
        #expect(
            "\(late)" == """
                The test took longer than 60.0 seconds, and its connections were reset. Its clock was at 1.5 seconds: what \
                waits for time needs it to be moved.
                """
        )
    }
}
