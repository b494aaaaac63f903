// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

@testable import DuplexCommand

@Suite("The chat room", .timeLimit(minutes: 1))
struct ChatRoomTests {
    /// Runs `body` beside a server whose root is a room in which it is always one second past the epoch.
    private static func withRoom(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let room = ChatRoom(DemoTopics().chat) { Date(timeIntervalSince1970: 1) }
        try await withWebSocketServer({ try await room.welcome($0) }, body)
    }

    @Test("Everybody is told of everybody's coming and going, a newcomer first of all")
    func people() async throws {
        try await Self.withRoom { url in
            let ann = try await WebSocket.connect(to: url)
            #expect(try await ann.receive() == #"{"people":1}"#)
            let bob = try await WebSocket.connect(to: url)
            #expect(try await bob.receive() == #"{"people":2}"#)
            #expect(try await ann.receive() == #"{"people":2}"#)
            await bob.close()
            #expect(try await ann.receive() == #"{"people":1}"#)
            await ann.close()
        }
    }

    @Test("A message goes to everybody, the sender too, with its number and its time")
    func messages() async throws {
        try await Self.withRoom { url in
            let ann = try await WebSocket.connect(to: url)
            _ = try await ann.receive()
            let bob = try await WebSocket.connect(to: url)
            for socket in [ann, bob] { _ = try await socket.receive() }
            for (number, text) in [(1, "one"), (2, "two")] {
                try await ann.send(#"{"name":"Ann","text":"\#(text)"}"#)
                let json = #"{"at":"1970-01-01T00:00:01Z","id":\#(number),"name":"Ann","people":2,"text":"\#(text)"}"#
                for socket in [ann, bob] { #expect(try await socket.receive() == .text(json)) }
            }
            for socket in [ann, bob] { await socket.close() }
        }
    }

    @Test("A person at a terminal can take part, with plain text")
    func plainText() async throws {
        try await withServeCommand { authority in
            let ann = try await WebSocket.connect(to: "ws://\(authority)/chat")
            _ = try await ann.receive()
            let said = try await RunningCommand.run(["connect", "\(authority)/chat", "-x", "hello there", "-n", "2"])
            #expect(said.status == 0 && said.output.contains(#""name":"guest","people":2,"text":"hello there"}"#))
            await ann.close()
        }
    }

    @Test(
        "Who breaks a rule is sent away with the code for it, and the others stay",
        arguments: [
            (Message.text("{}"), CloseCode.policyViolation), (.binary([1]), .unsupportedData),
            (.text(String(repeating: " ", count: 5_000)), .messageTooBig),
        ]
    )
    func violations(message: Message, code: CloseCode) async throws {
        try await Self.withRoom { url in
            let ann = try await WebSocket.connect(to: url)
            _ = try await ann.receive()
            let bob = try await WebSocket.connect(to: url)
            for socket in [ann, bob] { _ = try await socket.receive() }
            try await bob.send(message)
            let error = await #expect(throws: WebSocketError.self) { try await bob.receive() }
            #expect(error?.closeReport?.received?.code == code)
            #expect(try await ann.receive() == #"{"people":1}"#)
            await ann.close()
        }
    }

    @Test("A member who doesn't read is sent away, and keeps nobody waiting")
    func slowMember() async throws {
        try await Self.withRoom { url in
            // What the system holds for it is little then, and soon full.
            var options = WebSocketOptions()
            options.connecting.socketOptions.receiveBufferSize = 4_096
            let slow = try await WebSocket.connect(to: url, options: options)
            let fast = try await WebSocket.connect(to: url)
            _ = try await fast.receive()
            let text = String(repeating: "✓", count: ChatContract.textLimit)
            var sent = 0
            var isAlone = false
            while !isAlone && sent < 100_000 {
                // Many at a time: where the machine is busy each wait is long.
                for _ in 0..<20 { try await fast.send(#"{"name":"fast","text":"\#(text)"}"#) }
                sent += 20
                var received = 0
                while received < 20 {
                    if try await fast.receive() == #"{"people":1}"# { isAlone = true } else { received += 1 }
                }
            }
            // Without the bound it would go on for ever.
            #expect(sent < 100_000)
            // Closing would wait for what it hasn't taken.
            await slow.reset()
            await fast.close()
        }
    }
}
