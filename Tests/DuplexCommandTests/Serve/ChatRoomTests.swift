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
            options.connectOptions.socketOptions.receiveBufferSize = 4_096
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

@Suite("What a client says in the chat room")
struct ChatMessageTests {
    private static let longestName = String(repeating: "n", count: ChatContract.nameLimit)
    private static let longestText = String(repeating: "t", count: ChatContract.textLimit)

    @Test(
        "A message by the rules is taken unchanged",
        arguments: [
            (#"{"name":"Ann","text":"hi"}"#, "Ann", "hi"),
            (#" {"text":"a\nb","more":[1],"name":" Ann "} "#, " Ann ", "a\nb"),
            (#"{"name":"\u00e9","text":"\ud83d\ude00"}"#, "é", "😀"),
            (#"{"name":"\#(longestName)","text":"\#(longestText)"}"#, longestName, longestText),
        ]
    )
    func taken(json: String, name: String, text: String) throws {
        let message = try ChatMessage(.text(json))
        #expect(message.name == name)
        #expect(message.text == text)
    }

    @Test(
        "A message that breaks a rule is answered with 1008",
        arguments: [
            "", " \n", "{}", "{hi", #" {"name":"Ann"}"#, #"{"text":"hi"}"#, #"{"name":1,"text":"hi"}"#,
            #"{"name":"","text":"hi"}"#, #"{"name":"Ann","text":""}"#, #"{"name":"Ann","text":" \n\u00a0"}"#,
            #"{"name":"\#(longestName)n","text":"hi"}"#, #"{"name":"Ann","text":"\#(longestText)t"}"#,
            #"{"name":"Ann","text":"\ud83d"}"#,
        ]
    )
    func refused(json: String) {
        let violation = #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.text(json)) }
        #expect(violation?.code == .policyViolation)
        #expect(violation?.reason.isEmpty == false)
    }

    @Test("A text that isn't an object is what a guest says", arguments: ["hi", "[]", "null", " a {} ", "\"x\""])
    func plain(text: String) throws {
        let message = try ChatMessage(.text(text))
        #expect(message.name == ChatContract.guest && message.text == text)
        #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.text(Self.longestText + "t")) }
    }

    @Test("Lengths are counted in UTF-16 code units")
    func units() throws {
        let fits = String(repeating: "😀", count: ChatContract.nameLimit / 2)
        #expect(try ChatMessage(.text(#"{"name":"\#(fits)","text":"x"}"#)).name == fits)
        #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.text(#"{"name":"\#(fits)a","text":"x"}"#)) }
    }

    @Test("A binary message is answered with 1003, and one that is too large with 1009")
    func otherCodes() {
        let binary = #expect(throws: ChatMessage.Violation.self) { try ChatMessage(.binary([0x7B, 0x7D])) }
        #expect(binary?.code == .unsupportedData)
        let spaces = String(repeating: " ", count: ChatContract.messageSize)
        let large = #expect(throws: ChatMessage.Violation.self) {
            try ChatMessage(.text(#"{"name":"a","text":"b"}"# + spaces))
        }
        #expect(large?.code == .messageTooBig)
    }

    @Test("An announcement leaves out what it hasn't")
    func announcement() throws {
        #expect(try ChatAnnouncement(people: 3).json == #"{"people":3}"#)
        let full = ChatAnnouncement(id: 7, name: "A/n", text: "h\"i", at: "2026-01-01T12:00:00Z", people: 3)
        #expect(
            try full.json == #"{"at":"2026-01-01T12:00:00Z","id":7,"name":"A/n","people":3,"text":"h\"i"}"#
        )
    }
}

@Suite("The chat room's contract")
struct ChatContractTests {
    @Test("The page lets nobody type more than the room takes")
    func limits() throws {
        let html = DemoPage.text("index.html")
        let name = try #require(html.firstMatch(of: /<input id="chat-name"[^>]*maxlength="(\d+)"/)?.1)
        let text = try #require(html.firstMatch(of: /<input id="chat-input"[^>]*maxlength="(\d+)"/)?.1)
        #expect(Int(name) == ChatContract.nameLimit)
        #expect(Int(text) == ChatContract.textLimit)
    }

    @Test("A message of the longest name and text fits, even with every unit escaped")
    func worstCase() {
        let escaped = "\\u0000"
        let name = String(repeating: escaped, count: ChatContract.nameLimit)
        let text = String(repeating: escaped, count: ChatContract.textLimit)
        #expect("{\"name\":\"\(name)\",\"text\":\"\(text)\"}".utf8.count <= ChatContract.messageSize)
    }
}
