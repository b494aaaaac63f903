// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite("A socket with a delegate", .timeLimit(minutes: 1)) struct DelegatedSocketTests {
    @Test("Reads and writes are served in order, and answered with their tags; also those from before it was connected")
    func orders() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            #expect(socket.state == .idle && socket.connection == nil && socket.remoteAddress == nil)
            #expect(await errorCode { try socket.readData(tag: 1) } == .closed)
            try socket.connect(to: endpoint, options: .patient)
            try socket.readData(to: "\r\n", tag: 1)
            try socket.readData(toLength: 3, tag: 2)
            try socket.readData(toLength: 0, tag: 3)
            try socket.readData(tag: 4)
            let peer = try await accept()
            try await peer.write("line\r\nabc")
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            #expect(await events.next() == .read("line\r\n", tag: 1))
            #expect(await events.next() == .read("abc", tag: 2))
            #expect(await events.next() == .read("", tag: 3))
            try await peer.write("rest")
            #expect(await events.next() == .read("rest", tag: 4))
            #expect(socket.state == .open)
            #expect(socket.remoteAddress == peer.localAddress && socket.localAddress == peer.remoteAddress)
            try socket.write("one ", tag: 5)
            try socket.write([], tag: 6)
            try socket.write("two", tag: 7)
            for tag in 5...7 { #expect(await events.next() == .wrote(tag: tag)) }
            #expect(try await peer.read(exactly: 7) == Array("one two".utf8))
            #expect(socket.queuedBytes == 0)
            socket.disconnect()
            #expect(await events.next() == .disconnected(nil))
            #expect(try await peer.read() == nil)
            #expect(socket.state == .closed)
            #expect(await errorCode { try socket.write("late") } == .closed)
            #expect(await errorCode { try socket.connect(to: endpoint) } == .invalidArgument)
            await peer.close()
        }
    }

    @Test("A read whose time is over is asked about, and ends the connection then")
    func timeout() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            let (asked, ask) = AsyncStream<Int>.makeStream()
            try socket.readData(toLength: 4, timeout: .milliseconds(1), tag: 1) { _, count in
                ask.yield(count)
                return count == 2 ? nil : .milliseconds(1)
            }
            try socket.readData(tag: 2)
            var counts = asked.makeAsyncIterator()
            #expect(await counts.next() == 0)
            try await peer.write("ab")
            #expect(await recorder.all == [.connected, .disconnected(.timedOut)])
            await peer.close()
        }
    }

    @Test("More than the limit in front of a delimiter ends the connection; what makes no sense is refused")
    func limits() async throws {
        try await withDelegatedSocket(queueLimit: 10, queueCount: 3) { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            #expect(await errorCode { try socket.readData(upTo: 0) } == .invalidArgument)
            #expect(await errorCode { try socket.readData(toLength: -1) } == .invalidArgument)
            #expect(await errorCode { try socket.readData(to: "") } == .invalidArgument)
            #expect(await errorCode { try socket.readData(to: "abc", limit: 2) } == .invalidArgument)
            #expect(await errorCode { try socket.write("more than ten") } == .limitExceeded)
            try socket.readData(to: "\n", limit: 5, tag: 1)
            for tag in 2...3 { try socket.readData(tag: tag) }
            #expect(await errorCode { try socket.readData(tag: 4) } == .limitExceeded)
            let peer = try await accept()
            try await peer.write("too long\n")
            #expect(await recorder.all == [.connected, .disconnected(.limitExceeded)])
            await peer.close()
        }
    }

    @Test("Writes wait in the bounds while nobody reads")
    func queuedWrites() async throws {
        try await withDelegatedSocket(queueLimit: 64_000_000, queueCount: 3) { socket, recorder, endpoint, accept in
            let bytes = [UInt8](repeating: 1, count: 20_000_000)
            try socket.connect(to: endpoint, options: .patient)
            for tag in 1...3 { try socket.write(bytes, tag: tag) }
            #expect(socket.queuedBytes == 60_000_000)
            #expect(await errorCode { try socket.write(bytes) } == .limitExceeded)
            #expect(await errorCode { try socket.write("x") } == .limitExceeded)
            socket.disconnectAfterWriting()
            #expect(await errorCode { try socket.write("late") } == .closed)
            let peer = try await accept()
            var count = 0
            while let bytes = try await peer.read() { count += bytes.count }
            #expect(count == 60_000_000)
            #expect(
                await recorder.all == [.connected, .wrote(tag: 1), .wrote(tag: 2), .wrote(tag: 3), .disconnected(nil)]
            )
            await peer.close()
        }
    }

    // MARK: The end

    @Test("It is known that the peer has finished, whether somebody reads or not", arguments: [true, false])
    func endOfStream(reads: Bool) async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            try socket.readData(toLength: 2, tag: 1)
            if reads { try socket.readData(tag: 2) }
            try await peer.write("ab")
            await peer.finishWriting()
            let events = await recorder.all
            #expect(events == [.connected, .read("ab", tag: 1), .endOfStream, .disconnected(.endOfStream)])
            await peer.close()
        }
    }

    @Test("What waits to be written when the peer finishes still goes out, and nothing else does")
    func answersBehindEndOfStream() async throws {
        try await withDelegatedSocket(queueLimit: 64_000_000) { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            // More than the system takes while nobody reads.
            for tag in 1...2 { try socket.write([UInt8](repeating: 1, count: 20_000_000), tag: tag) }
            try socket.readData(tag: 3)
            await peer.finishWriting()
            #expect(await events.next() == .endOfStream)
            while socket.state != .closing { await Task.yield() }
            #expect(await errorCode { try socket.write("late") } == .closed)
            var count = 0
            while let bytes = try await peer.read() { count += bytes.count }
            #expect(count == 40_000_000)
            for tag in 1...2 { #expect(await events.next() == .wrote(tag: tag)) }
            #expect(await events.next() == .disconnected(.endOfStream))
            await peer.close()
        }
    }

    @Test("A peer that finishes in the middle of what is read ends it as well")
    func truncated() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            try socket.readData(to: "\n", tag: 1)
            try await peer.write("half a li")
            await peer.finishWriting()
            #expect(await recorder.all == [.connected, .endOfStream, .disconnected(.endOfStream)])
            await peer.close()
        }
    }

    @Test("Where it is to live on, it writes to a peer that has finished, and doesn't read")
    func halfClosed() async throws {
        try await withDelegatedSocket(closesAtEndOfStream: false) { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            await peer.finishWriting()
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            #expect(await events.next() == .endOfStream)
            #expect(await errorCode { try socket.readData() } == .endOfStream)
            try socket.write("answer", tag: 1)
            #expect(await events.next() == .wrote(tag: 1))
            #expect(try await peer.read(exactly: 6) == Array("answer".utf8))
            socket.disconnectAfterReadingAndWriting()
            #expect(await events.next() == .disconnected(nil))
            await peer.close()
        }
    }

    @Test("What can't be connected says why")
    func refused() async throws {
        let reserved = try ReservedPort()
        let recorder = SocketRecorder()
        let socket = DelegatedSocket(delegate: recorder, queue: recorder.queue)
        try socket.connect(to: .address(reserved.address), options: .patient)
        try socket.readData()
        #expect(await recorder.all == [.disconnected(.cannotConnect)])
        #expect(socket.state == .closed && socket.connection == nil)
        withExtendedLifetime(reserved) {}
    }

    @Test("Closing before it is connected, or meanwhile, ends it without an error and without anything else")
    func closedEarly() async throws {
        let idle = SocketRecorder()
        let socket = DelegatedSocket(delegate: idle, queue: idle.queue)
        socket.disconnectAfterReading()
        socket.disconnect()
        #expect(await idle.all == [.disconnected(nil)])
        #expect(await errorCode { try socket.connect(to: .host("localhost", port: 1)) } == .invalidArgument)
        try await withDelegatedSocket { socket, recorder, endpoint, _ in
            try socket.connect(to: endpoint, options: .patient)
            try socket.readData()
            socket.disconnect()
            #expect(await recorder.all == [.disconnected(nil)])
        }
    }

    @Test("It closes behind the reads that wait, or behind the writes, or both", arguments: 0..<3)
    func closesAfter(which: Int) async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            try socket.readData(toLength: 4, tag: 1)
            try socket.write("written", tag: 2)
            switch which {
            case 0: socket.disconnectAfterReading()
            case 1: socket.disconnectAfterWriting()
            default:
                socket.disconnectAfterReading()
                socket.disconnectAfterWriting()
            }
            #expect(await errorCode { try socket.readData() } == .closed)
            #expect(try await peer.read(exactly: 7) == Array("written".utf8))
            // With the writes alone nobody waits for it.
            if which != 1 { try await peer.write("read") }
            #expect(try await peer.read() == nil)
            let events = await recorder.all
            #expect(events.contains(.read("read", tag: 1)) == (which != 1))
            #expect(events.contains(.wrote(tag: 2)) && events.last == .disconnected(nil))
            await peer.close()
        }
    }

    @Test("What is done is reported before the connection's failure, however late the queue comes to it")
    func lateQueue() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            recorder.queue.suspend()
            try socket.write("abc", tag: 1)
            #expect(try await peer.read(exactly: 3) == Array("abc".utf8))
            while socket.queuedBytes > 0 { await Task.yield() }
            await peer.reset()
            while socket.state != .closing { await Task.yield() }
            recorder.queue.resume()
            #expect(await events.next() == .wrote(tag: 1))
            #expect(await events.next() == .disconnected(.connectionReset))
        }
    }

    @Test("The end of the stream is reported behind what came before it")
    func endOfStreamLast() async throws {
        for _ in 0..<50 {
            try await withDelegatedSocket { socket, recorder, endpoint, accept in
                try socket.connect(to: endpoint, options: .patient)
                for tag in 1...3 { try socket.readData(to: "\n", tag: tag) }
                let peer = try await accept()
                try await peer.write("1\n2\n3\n")
                await peer.finishWriting()
                let reads = (1...3).map { SocketRecorder.Event.read("\($0)\n", tag: $0) }
                #expect(await recorder.all == [.connected] + reads + [.endOfStream, .disconnected(.endOfStream)])
                await peer.close()
            }
        }
    }

    @Test("Closing what lies below it is this side's end, and no failure")
    func closedBelow() async throws {
        try await withDelegatedSocket { socket, recorder, endpoint, accept in
            try socket.connect(to: endpoint, options: .patient)
            let peer = try await accept()
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
            await socket.connection?.close()
            #expect(await events.next() == .disconnected(nil))
            await peer.close()
        }
    }

    private final class Stages: SocketDelegate, Sendable {
        let events: AsyncStream<StageEvent>
        private let event: AsyncStream<StageEvent>.Continuation

        init() { (events, event) = AsyncStream.makeStream() }

        func socket(_ socket: DelegatedSocket, didReach event: StageEvent) { self.event.yield(event) }

        func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?) { event.finish() }
    }

    @Test("The stages of a connection that isn't made are reported, however late the queue comes to them")
    func stagesOfRefused() async throws {
        let reserved = try ReservedPort()
        let stages = Stages()
        let queue = DispatchQueue(label: "duplex.tests")
        let socket = DelegatedSocket(delegate: stages, queue: queue)
        queue.suspend()
        try socket.connect(to: .address(reserved.address), options: .patient)
        while socket.state != .closed { await Task.yield() }
        queue.resume()
        var events: [StageEvent] = []
        for await event in stages.events { events.append(event) }
        #expect(!events.isEmpty)
        withExtendedLifetime(reserved) {}
    }

    @Test("It keeps itself alive to its end, and not its delegate")
    func ownership() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var iterator = listener.makeAsyncIterator()
        weak var kept: DelegatedSocket?
        weak var delegate: SocketRecorder?
        let endpoint = Endpoint.address(listener.localAddress)
        do {
            let recorder = SocketRecorder()
            let socket = DelegatedSocket(delegate: recorder, queue: recorder.queue)
            (kept, delegate) = (socket, recorder)
            try socket.connect(to: endpoint, options: .patient)
            var events = recorder.events.makeAsyncIterator()
            #expect(await events.next() == .connected)
        }
        let peer = try #require(try await iterator.next())
        while delegate != nil { await Task.yield() }
        #expect(kept?.state == .open)
        try kept?.write("nobody hears that it was written", tag: 1)
        #expect(try await peer.read(exactly: 32).count == 32)
        await peer.close()
        while kept != nil { await Task.yield() }
        await listener.close()
    }

    // MARK: The main actor

    @MainActor
    private final class Console: @MainActor SocketDelegate {
        private(set) var lines: [String] = []
        private let end: AsyncStream<Never>.Continuation

        init(_ end: AsyncStream<Never>.Continuation) { self.end = end }

        func socketDidConnect(_ socket: DelegatedSocket) {
            lines.append("connected")
            try? socket.write("ping\n")
            try? socket.readData(to: "\n", tag: 7)
        }

        func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int) {
            lines.append("\(tag) \(String(decoding: bytes, as: UTF8.self))")
            socket.disconnect()
        }

        func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?) {
            lines.append(error.map { "\($0)" } ?? "disconnected")
            end.finish()
        }
    }

    @Test("A delegate of the main actor has state") @MainActor
    func mainActor() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let service = Task {
            try await listener.serve { socket in
                while let line = try await socket.readLine() { try await socket.write(line + "\n") }
            }
        }
        let (ended, end) = AsyncStream<Never>.makeStream()
        let console = Console(end)
        let socket = DelegatedSocket(delegate: console)
        #expect(socket.delegate === console)
        try socket.connect(to: .address(listener.localAddress), options: .patient)
        for await _ in ended {}
        #expect(console.lines == ["connected", "7 ping\n", "disconnected"])
        service.cancel()
        _ = await service.result
    }
}
