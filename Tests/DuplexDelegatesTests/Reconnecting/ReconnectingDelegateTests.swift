// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexDelegates

@Suite(.timeLimit(minutes: 1)) struct ReconnectingDelegateTests {
    /// Implements nothing, and so has what the protocol has.
    private final class Silent: ReconnectingDelegate, Sendable {}

    /// Tells what it is told, in words.
    private final class Teller: ReconnectingDelegate, Sendable {
        let words: AsyncStream<String>
        private let word: AsyncStream<String>.Continuation

        init() { (words, word) = AsyncStream.makeStream() }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) {
            word.yield("message")
            try? socket.send("seen")
        }

        func webSocket(
            _ socket: DelegatedReconnectingWebSocket,
            didChangeTo state: DelegatedReconnectingWebSocket.State
        ) {
            word.yield("\(state)")
            if state == .idle { word.finish() }
        }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReach event: StageEvent) {
            word.yield("\(event.attempt) \(event.words)")
        }
    }

    @Test("The stages of an attempt come between the state that it is made in and the one that it leads to")
    func stages() async throws {
        let count = Numbering()
        try await withServer { server in
            server.webSocket("/") { socket in
                let number = count.next()
                try await socket.send("hello")
                // A connection that ends before the delegate has heard of it may be gone without a word.
                _ = try await socket.receive()
                await socket.close(code: number < 2 ? .serviceRestart : .normalClosure)
            }
        } _: { address in
            let teller = Teller()
            let socket = DelegatedReconnectingWebSocket(
                urls: ["ws://\(address)/"],
                policy: .constant(.zero),
                delegate: teller,
                queue: .global()
            )
            socket.open()
            var words: [String] = []
            for await word in teller.words { words.append(word) }
            func attempt(_ number: Int) -> [String] {
                ["connecting began", "connecting ended", "upgrade began", "upgrade ended"].map { "\(number) \($0)" }
            }
            let first = ["connecting"] + attempt(1) + ["connected", "message"]
            #expect(words == first + ["reconnecting"] + attempt(2) + ["reconnected", "message", "idle"])
        }
    }

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
