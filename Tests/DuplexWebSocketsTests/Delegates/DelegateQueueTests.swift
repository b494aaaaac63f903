// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexTestPeers
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite(.timeLimit(.minutes(1))) struct DelegateQueueTests {
    private final class Name: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    @Test("Whoever is the delegate when its turn has come is called; nobody if there is none, or nothing to tell")
    func replaced() async {
        let queue = DispatchQueue(label: "duplex.tests")
        let delegates = DelegateQueue<Name>(queue, label: "duplex.tests.delegate")
        let (told, tell) = AsyncStream<String>.makeStream()
        await delegates.call { tell.yield($0.text) }
        let (first, second) = (Name("first"), Name("second"))
        delegates.tell { [weak first] in first }
        await delegates.call {
            tell.yield($0.text)
            delegates.tell { [weak second] in second }
        }
        await delegates.call { tell.yield($0.text) }
        await delegates.call(if: { false }, { _ in tell.yield("unwanted") })
        tell.finish()
        var names: [String] = []
        for await name in told { names.append(name) }
        #expect(names == ["first", "second"])
        #expect(first.text + second.text == "firstsecond")
    }

    @Test("What nobody waits for is called in its turn")
    func posted() async {
        let delegates = DelegateQueue<Name>(DispatchQueue(label: "duplex.tests"), label: "duplex.tests.delegate")
        let name = Name("name")
        delegates.tell { [weak name] in name }
        let (told, tell) = AsyncStream<Int>.makeStream()
        for number in 1...3 { delegates.post(if: { number != 2 }, { _ in tell.yield(number) }) }
        await delegates.call { _ in tell.finish() }
        var numbers: [Int] = []
        for await number in told { numbers.append(number) }
        #expect(numbers == [1, 3] && name.text == "name")
    }

    @Test("One of the main actor is called there, also when it is set while a call waits for another queue")
    func onMain() async {
        let queue = DispatchQueue(label: "duplex.tests")
        let delegates = DelegateQueue<Name>(queue, label: "duplex.tests.delegate")
        let (other, main) = (Name("other"), Name("main"))
        delegates.tell { other }
        queue.suspend()
        async let called: Void = delegates.call { name in
            #expect(name.text == "main")
            dispatchPrecondition(condition: .onQueue(.main))
        }
        await MainActor.run { delegates.tellOnMain { main } }
        queue.resume()
        await called
        #expect(await MainActor.run { delegates.delegate === main })
    }

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
