// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite(.timeLimit(.minutes(1))) struct DelegatedReconnectingWebSocketTests {
    /// Tells what it is told, in order, and sees that it is on its queue.
    private final class Recorder: ReconnectingDelegate {
        static let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "duplex.tests")
        let events: AsyncStream<String>
        private let event: AsyncStream<String>.Continuation

        init() {
            queue.setSpecific(key: Self.key, value: true)
            (events, event) = AsyncStream.makeStream()
        }

        private func record(_ what: String) {
            #expect(DispatchQueue.getSpecific(key: Self.key) == true)
            event.yield(what)
            if what == "idle" { event.finish() }
        }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didReceive message: Message) {
            guard case .text(let text) = message else { return }
            record("message \(text)")
        }

        func webSocket(
            _ socket: DelegatedReconnectingWebSocket,
            didChangeTo state: DelegatedReconnectingWebSocket.State
        ) {
            #expect(socket.state == state)
            record("\(state)")
        }

        func webSocket(_ socket: DelegatedReconnectingWebSocket, didFailWith error: WebSocketError) {
            record("failed \(error.code)")
        }

        func webSocket(
            _ socket: DelegatedReconnectingWebSocket,
            didCloseWith code: CloseCode,
            reason: String,
            wasClean: Bool
        ) {
            record("closed \(code.rawValue) \(reason) \(wasClean)")
        }

        /// All events up to one of them, or to the last.
        func upTo(_ last: String? = nil) async -> [String] {
            var seen: [String] = []
            for await event in events {
                seen.append(event)
                if event == last { break }
            }
            return seen
        }
    }

    @Test("It is told the states of XPWebSocket, with each connection's messages in their place, and one end")
    func conversation() async throws {
        let count = Numbering()
        try await withServer { server in
            server.webSocket("/") { socket in
                let number = count.next()
                try await socket.send("hello \(number)")
                if number == 1 {
                    await socket.close(code: .serviceRestart)
                } else {
                    for try await message in socket.messages { try await socket.send(message) }
                }
            }
        } _: { address in
            let recorder = Recorder()
            let socket = DelegatedReconnectingWebSocket(
                urls: ["ws://\(address)/"],
                policy: .constant(.milliseconds(1)),
                delegate: recorder,
                queue: recorder.queue
            )
            #expect(socket.state == .idle)
            await expect(.closed) { try socket.send("too early") }
            socket.open()
            socket.open()
            let first = await recorder.upTo("message hello 2")
            let expected = [
                "connecting", "connected", "message hello 1", "reconnecting", "reconnected", "message hello 2",
            ]
            #expect(first == expected)
            try socket.send("mine")
            #expect(await recorder.upTo("message mine") == ["message mine"])
            socket.close(code: .goingAway, reason: "enough")
            #expect(await recorder.upTo() == ["closed 1001 enough true", "idle"])
            await expect(.closed) { try socket.send("too late") }
        }
    }

    @Test("Giving up is a failure, and a close that is no use to repeat is a close")
    func endings() async throws {
        try await withServer { server in
            server.webSocket("/banned") { socket in await socket.close(code: .policyViolation, reason: "banned") }
        } _: { address in
            let cases = [
                ("/banned", ["connecting", "connected", "closed 1008 banned true", "idle"]),
                ("/nothing", ["connecting", "failed handshakeRefused", "idle"]),
            ]
            for (path, expected) in cases {
                let recorder = Recorder()
                let socket = DelegatedReconnectingWebSocket(
                    urls: ["ws://\(address)\(path)"],
                    delegate: recorder,
                    queue: recorder.queue
                )
                socket.open()
                #expect(await recorder.upTo() == expected)
                #expect(socket.state == .idle)
            }
        }
    }

    @Test("Too much to send is refused; closing while it waits is a close")
    func waiting() async throws {
        let port = try ReservedPort()
        let recorder = Recorder()
        let socket = DelegatedReconnectingWebSocket(
            urls: ["ws://\(port.address)/"],
            policy: .constant(.seconds(3_600)),
            delegate: recorder,
            queue: recorder.queue,
            queueLimit: .bytes(4)
        )
        socket.open()
        let states = socket.client.states
        for await change in states { if case .waiting = change.phase { break } }
        await expect(.queueFull) { try socket.send("12345") }
        try socket.send("1234")
        socket.close()
        #expect(await recorder.upTo() == ["connecting", "closed 1000  false", "idle"])
    }
}
