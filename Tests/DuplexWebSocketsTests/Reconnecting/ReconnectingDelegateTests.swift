// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Testing

@Suite(.timeLimit(.minutes(1))) struct ReconnectingDelegateTests {
    /// Implements nothing, and so has what the protocol has.
    private final class Silent: ReconnectingDelegate, Sendable {}

    @Test("A delegate need not implement anything")
    func nothing() async throws {
        let port = try ReservedPort()
        let silent = Silent()
        var policy = ReconnectPolicy.constant(.zero)
        policy.attemptLimit = 2
        let socket = DelegatedReconnectingWebSocket(
            urls: ["ws://\(port.address)/"],
            policy: policy,
            delegate: silent,
            queue: .global()
        )
        let states = socket.client.states
        socket.open()
        var last: ReconnectChange?
        for await change in states { last = change }
        guard case .ended(.exhausted(.attempts, _)) = last?.phase else {
            Issue.record("\(String(describing: last))")
            return
        }
        silent.webSocket(socket, didReceive: "nothing comes of it")
        silent.webSocket(socket, didCloseWith: .normalClosure, reason: "", wasClean: true)
    }
}
