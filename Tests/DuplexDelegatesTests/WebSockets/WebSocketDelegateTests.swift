// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

@testable import DuplexDelegates

@Suite(.timeLimit(minutes: 1)) struct WebSocketDelegateTests {
    /// Implements one method only, the last that is called.
    private final class Ender: WebSocketDelegate, Sendable {
        let ended: AsyncStream<CloseReport>
        private let end: AsyncStream<CloseReport>.Continuation

        init() { (ended, end) = AsyncStream.makeStream() }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {
            end.yield(report)
            end.finish()
        }
    }

    @Test("A delegate needs to implement only what it wants to be told")
    func defaults() async throws {
        try await withServer { server in
            server.webSocket("/") { socket in
                try await socket.send("hello")
                _ = try await socket.ping()
                await socket.close(code: .serviceRestart, reason: "later")
            }
        } _: { address in
            let delegate = Ender()
            let socket = DelegatedWebSocket(
                url: "ws://\(address)/",
                options: .patient,
                delegate: delegate,
                queue: .global()
            )
            socket.open()
            for await report in delegate.ended {
                #expect(report.received?.code == .serviceRestart && report.received?.reason == "later")
                #expect(report.isClean)
            }
        }
    }

    /// Writes down the stages and what they lead to.
    private final class Stager: WebSocketDelegate, Sendable {
        let words: AsyncStream<String>
        private let word: AsyncStream<String>.Continuation

        init() { (words, word) = AsyncStream.makeStream() }

        func webSocket(_ socket: DelegatedWebSocket, didReach event: StageEvent) { word.yield(event.words) }

        func webSocketDidOpen(_ socket: DelegatedWebSocket) {
            word.yield("open")
            socket.close()
        }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) { end("closed") }

        func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) { end("failed") }

        private func end(_ what: String) {
            word.yield(what)
            word.finish()
        }

        /// All of them for a connection.
        func words(of url: String, _ options: WebSocketOptions = .patient) async -> [String] {
            let socket = DelegatedWebSocket(url: url, options: options, delegate: self, queue: .global())
            socket.open()
            var words: [String] = []
            for await word in self.words { words.append(word) }
            return words
        }
    }

    @Test("It is told the stages of connecting as they happen, before what they lead to; so is the options' callback")
    func stages() async throws {
        let recorder = StageRecorder()
        try await withServer { server in
            server.webSocket("/") { socket in for try await _ in socket.messages {} }
        } _: { address in
            var options = WebSocketOptions.patient
            options.onStage = { recorder.tell($0) }
            let words = await Stager().words(of: "ws://\(address)/", options)
            let stages = ["connecting began", "connecting ended", "upgrade began", "upgrade ended"]
            #expect(words == stages + ["open", "closed"] && recorder.words == stages)
        }
        let port = try ReservedPort()
        let words = await Stager().words(of: "ws://\(port.address)/")
        #expect(words == ["connecting began", "connecting failed", "failed"])
    }

    /// Writes down what it is told, in words.
    private final class Writer: WebSocketDelegate, Sendable {
        let queue = DispatchQueue(label: "duplex.tests")
        private let words: AsyncStream<String>
        private let word: AsyncStream<String>.Continuation

        init() { (words, word) = AsyncStream.makeStream() }

        /// The next words; `nil` behind the end.
        func next() async -> String? {
            var iterator = words.makeAsyncIterator()
            return await iterator.next()
        }

        /// All the words to come.
        func rest() async -> [String] {
            var all: [String] = []
            for await word in words { all.append(word) }
            return all
        }

        func write(_ text: String) {
            dispatchPrecondition(condition: .onQueue(queue))
            word.yield(text)
        }

        func webSocketDidOpen(_ socket: DelegatedWebSocket) { write("open") }
        func webSocket(_ socket: DelegatedWebSocket, didReceiveText text: String) { write("text \(text)") }
        func webSocket(_ socket: DelegatedWebSocket, didReceiveData data: [UInt8]) { write("data \(data)") }
        func webSocket(_ socket: DelegatedWebSocket, didReceivePing payload: [UInt8]) { write("ping \(payload)") }
        func webSocket(_ socket: DelegatedWebSocket, didReceivePong payload: [UInt8]) { write("pong \(payload)") }

        func webSocket(_ socket: DelegatedWebSocket, didReceivePong roundTrip: Duration) {
            write(roundTrip > .zero ? "round trip" : "\(roundTrip)")
        }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) { end("closed \(report.code)") }
        func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) { end("failed \(error.code)") }

        private func end(_ text: String) {
            write(text)
            word.finish()
        }
    }

    /// Takes messages as they are, and writes down what is told beside.
    private final class WholeWriter: WebSocketDelegate, Sendable {
        private let writer: Writer

        init(_ writer: Writer) { self.writer = writer }

        func webSocketDidOpen(_ socket: DelegatedWebSocket) { writer.webSocketDidOpen(socket) }

        func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message) {
            writer.write("message \(message.kind)")
        }

        func webSocket(_ socket: DelegatedWebSocket, didReceiveText text: String) { writer.write("told twice") }
        func webSocket(_ socket: DelegatedWebSocket, didReceiveData data: [UInt8]) { writer.write("told twice") }

        func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) {
            writer.webSocket(socket, didCloseWith: report)
        }
    }

    /// A socket with that delegate, whose server is played by a peer that has accepted it.
    private func withOpened(
        _ writer: Writer = Writer(),
        delegate: (any WebSocketDelegate & Sendable)? = nil,
        options: WebSocketOptions = .patient,
        on group: EventLoopGroup = .shared,
        followedBy frames: [RawFrame] = [],
        _ body: (DelegatedWebSocket, RawPeer, Writer) async throws -> Void
    ) async throws {
        try await withListener { url, accept in
            let socket = DelegatedWebSocket(
                url: url,
                options: options,
                delegate: delegate ?? writer,
                queue: writer.queue,
                on: group
            )
            socket.open()
            let peer = try await accept()
            try await peer.acceptWebSocket(followedBy: frames)
            #expect(await writer.next() == "open")
            try await body(socket, peer, writer)
            await peer.reset()
        }
    }

    @Test("Texts, bytes, pings and pongs are told in the order in which they came, the first with the answer itself")
    func order() async throws {
        try await withOpened(followedBy: [.ping([1]), .text("a")]) { _, peer, writer in
            try await peer.send(
                .ping([2]),
                .text("b", isFinal: false),
                .ping([3]),
                .continuation(Array("c".utf8)),
                .pong([4]),
                .binary([5]),
                .ping(),
                .close(1_000)
            )
            await peer.finishWriting()
            let told = await writer.rest()
            #expect(
                told == [
                    "ping [1]", "text a", "ping [2]", "ping [3]", "text bc", "pong [4]", "data [5]", "ping []",
                    "closed \(CloseCode.normalClosure)",
                ]
            )
        }
    }

    @Test("A ping is told while no message comes, and answered by itself")
    func pingAlone() async throws {
        try await withOpened { _, peer, writer in
            for number in 0..<UInt8(3) {
                try await peer.send(.ping([number]))
                #expect(await writer.next() == "ping [\(number)]")
                let pong = try await peer.readFrame()
                #expect(pong.opcode == 0xA && pong.payload == [number])
            }
        }
    }

    @Test("A pong is told with what its ping carried, and then how long it took; those of the interval aren't told")
    func pongs() async throws {
        var options = WebSocketOptions.patient
        options.pings = .every(.seconds(20), timeout: .seconds(60))
        try await TestLoop.run { [options] loop in
            try await withOpened(options: options, on: loop.group) { socket, peer, writer in
                for _ in 0..<2 {
                    await loop.advance(by: .seconds(20))
                    let ping = try await peer.readFrame()
                    #expect(ping.opcode == 0x9 && ping.payload.count == 8)
                    try await peer.send(.pong(ping.payload))
                }
                try socket.ping(Array("who?".utf8))
                try socket.ping()
                let asked = try await peer.readFrame()
                let empty = try await peer.readFrame()
                #expect(asked.opcode == 0x9 && asked.payload == Array("who?".utf8))
                #expect(empty.opcode == 0x9 && empty.payload.isEmpty)
                await loop.advance(by: .milliseconds(5))
                try await peer.send(.pong(asked.payload), .text("between"), .pong())
                var told: [String?] = []
                for _ in 0..<5 { told.append(await writer.next()) }
                #expect(told == ["pong \(Array("who?".utf8))", "round trip", "text between", "pong []", "round trip"])
            }
        }
    }

    @Test("Each message is told once: a delegate that takes it whole isn't told its text")
    func whole() async throws {
        let writer = Writer()
        let delegate = WholeWriter(writer)
        try await withOpened(writer, delegate: delegate) { _, peer, writer in
            try await peer.send(.text("a"), .binary([1]), .close(1_000))
            await peer.finishWriting()
            let told = await writer.rest()
            #expect(told == ["message text", "message binary", "closed \(CloseCode.normalClosure)"])
        }
    }
}
