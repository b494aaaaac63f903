// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexDelegates
@testable import DuplexWebSockets

@Suite("A WebSocket with a delegate of the main actor", .timeLimit(minutes: 1)) struct DelegatedWebSocketMainActorTests
{
    /// As an app's view controller is: with state, on the main actor.
    @MainActor
    private final class Chat: @MainActor WebSocketDelegate {
        private(set) var lines: [String] = []
        private(set) var socket: DelegatedWebSocket?
        private(set) var connection: WebSocket?
        private let end: AsyncStream<Never>.Continuation

        init(_ end: AsyncStream<Never>.Continuation) { self.end = end }

        func connect(to url: String, isSetLater: Bool) {
            let socket =
                isSetLater
                ? DelegatedWebSocket(url: url) : DelegatedWebSocket(url: url, options: .patient, delegate: self)
            if isSetLater { socket.delegate = self }
            self.socket = socket
            socket.open()
        }

        func webSocketDidOpen(_ socket: DelegatedWebSocket) {
            lines.append("open")
            connection = socket.connection
            try? socket.send("hello")
        }

        func webSocket(_ socket: DelegatedWebSocket, didReceiveText text: String) {
            lines.append(text)
            socket.close()
        }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {
            lines.append("\(report.code.rawValue)")
            end.finish()
        }
    }

    @Test("A delegate of the main actor has state, set at once or later", arguments: [false, true])
    @MainActor
    func mainActor(isSetLater: Bool) async throws {
        let (ended, end) = AsyncStream<Never>.makeStream()
        let chat = Chat(end)
        try await withServer { server in
            server.webSocket("/") { socket in
                for try await message in socket.messages { try await socket.send(message) }
            }
        } _: { address in
            await chat.connect(to: "ws://\(address)/", isSetLater: isSetLater)
            for await _ in ended {}
        }
        #expect(chat.lines == ["open", "hello", "1000"])
        #expect(chat.connection != nil && chat.socket?.delegate === chat)
        while chat.socket?.connection != nil { await Task.yield() }
    }

    @Test("Without a delegate messages are dropped, and the connection lives")
    @MainActor
    func nobody() async throws {
        try await withListener { url, accept in
            let (_, end) = AsyncStream<Never>.makeStream()
            let chat = Chat(end)
            let socket = DelegatedWebSocket(url: url, options: .patient, delegate: chat)
            #expect(socket.delegate === chat && socket.connection == nil)
            socket.delegate = nil
            #expect(socket.delegate == nil)
            socket.open()
            let peer = try await accept()
            try await peer.acceptWebSocket(followedBy: [.text("nobody hears it")])
            while socket.state != .open { await Task.yield() }
            try socket.send("still there")
            #expect(try await peer.readFrame().text == "still there")
            #expect(chat.lines == [])
            socket.reset()
            await peer.reset()
        }
    }
}
