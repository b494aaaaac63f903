// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

@Suite struct PreparedMessageTests {
    private static let messages: [Message] = [
        .text(""), .text("grüß dich"), .binary([]), .binary([1, 2, 3]), .text(String(repeating: "ab", count: 40_000)),
        .binary([UInt8](repeating: 7, count: 200_000)),
    ]

    @Test(
        "What is framed once arrives whole, in order with what else is sent, compressed or not",
        arguments: [true, false]
    )
    func toMany(isCompressed: Bool) async throws {
        var options = WebSocketOptions()
        options.compression = isCompressed ? .required : .disabled
        try await withServer { server in
            server.webSockets.compression = .enabled
            server.webSocket("/") { socket in
                for message in Self.messages {
                    try await socket.send("before")
                    try await socket.send(PreparedMessage(message))
                }
            }
        } _: { [options] address in
            for _ in 0..<3 {
                let client = try await WebSocket.connect(to: "ws://\(address)/", options: options)
                for message in Self.messages {
                    #expect(try await client.receive() == "before")
                    #expect(try await client.receive() == message)
                }
                #expect(await client.close().isClean)
            }
        }
    }

    @Test("A client sends it as any message, masked")
    func byClient() async throws {
        try await withPair { client, server in
            for message in Self.messages {
                let prepared = PreparedMessage(message)
                #expect(prepared.kind == message.kind && prepared.byteCount == message.byteCount)
                try await client.send(prepared)
                #expect(try await server.receive() == message)
            }
        }
    }

    @Test("Within a message in pieces it waits its turn, as every other does", arguments: [true, false])
    func withinPieces(isCompressed: Bool) async throws {
        var options = WebSocketOptions()
        options.compression = isCompressed ? .required : .disabled
        try await withServer { server in
            server.webSockets.compression = .enabled
            server.webSocket("/") { socket in
                try await socket.send(.text) { writer in
                    try await writer.write("one ")
                    let isBelow = socket.enqueue(PreparedMessage("between"))
                    #expect(!isBelow)
                    try await writer.write("message")
                }
            }
        } _: { [options] address in
            let client = try await WebSocket.connect(to: "ws://\(address)/", options: options)
            #expect(try await client.receive() == "one message")
            #expect(try await client.receive() == "between")
            #expect(await client.close().isClean)
        }
    }

    @Test("Behind the close it isn't sent, and says so")
    func afterClose() async throws {
        try await withPair { client, server in
            await server.close()
            let prepared = PreparedMessage("late")
            await #expect {
                try await server.send(prepared)
            } throws: {
                ($0 as? WebSocketError)?.code == .closed
            }
            #expect(await server.enqueue(prepared) == false)
        }
    }
}
