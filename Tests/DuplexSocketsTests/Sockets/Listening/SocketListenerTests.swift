// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite struct SocketListenerTests {
    private struct Failure: Error {}

    /// Serves beside the body, and says what `serve` threw once it is cancelled.
    private func withServer(
        _ host: LocalHost = "127.0.0.1",
        _ handler: @escaping @Sendable (isolated Socket) async throws -> Void,
        _ body: (Endpoint) async throws -> Void
    ) async throws {
        let listener = try SocketListener.bind(.tcp(host: host, port: 0))
        let server = Task { try await listener.serve(handler) }
        do {
            try await body(.address(listener.localAddress))
        } catch {
            server.cancel()
            throw error
        }
        server.cancel()
        await #expect(throws: CancellationError.self) { try await server.value }
        #expect(await comesToRefuse(.address(listener.localAddress)))
    }

    @Test(
        "Each connection has a handler of its own, and serving ends when it is cancelled",
        arguments: ["127.0.0.1", "::1"]
    )
    func serving(host: String) async throws {
        let echo: @Sendable (isolated Socket) async throws -> Void = { socket in
            while let bytes = try await socket.read() { try await socket.write(bytes) }
        }
        try await withServer(.init(host), echo) { endpoint in
            let first = try await Socket.connect(to: endpoint)
            let second = try await Socket.connect(to: endpoint)
            try await second.write("second")
            try await first.write("first")
            #expect(try await first.read() == Array("first".utf8))
            #expect(try await second.read() == Array("second".utf8))
            await first.close()
            await second.close()
        }
    }

    @Test("A handler that throws ends only its own connection")
    func throwing() async throws {
        let handler: @Sendable (isolated Socket) async throws -> Void = { socket in
            guard let bytes = try await socket.read(), bytes != Array("bad".utf8) else { throw Failure() }
            try await socket.write(bytes)
        }
        try await withServer("127.0.0.1", handler) { endpoint in
            let good = try await Socket.connect(to: endpoint)
            let bad = try await Socket.connect(to: endpoint)
            try await bad.write("bad")
            #expect(try await bad.read() == nil)
            try await good.write("good")
            #expect(try await good.read() == Array("good".utf8))
            await good.close()
            await bad.close()
        }
    }

    @Test("Once it is closed, a listener takes no connections and can't serve")
    func closing() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        await listener.close()
        #expect(await comesToRefuse(.address(listener.localAddress)))
        await #expect { try await listener.serve { _ in } } throws: { ($0 as? SocketError)?.code == .closed }
    }

    @Test("Closing ends an iteration that waits", .timeLimit(minutes: 1))
    func closedWhileIterated() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let iteration = Task {
            var count = 0
            for try await socket in listener {
                count += 1
                await socket.close()
                continuation.yield()
            }
            return count
        }
        await (try Socket.connect(to: .address(listener.localAddress))).close()
        for await _ in started { break }
        await listener.close()
        #expect(try await iteration.value == 1)
    }

    @Test("Closing ends serving behind the last handler, and cancels none", .timeLimit(minutes: 1))
    func closedWhileServing() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let server = Task {
            try await listener.serve { socket in
                try await socket.write("ready\n")
                while let line = try await socket.readLine() { try await socket.write(line + "\n") }
            }
        }
        let socket = try await Socket.connect(to: .address(listener.localAddress))
        #expect(try await socket.readLine() == "ready")
        await listener.close()
        #expect(await comesToRefuse(.address(listener.localAddress)))
        try await socket.write("still\n")
        #expect(try await socket.readLine() == "still")
        await socket.close()
        try await server.value
        await #expect(throws: SocketError.self) { try await listener.serve { _ in } }
    }

    @Test("Cancelling what serves on behind a closed listener cancels the handlers", .timeLimit(minutes: 1))
    func cancelledBehindClosing() async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let server = Task {
            try await listener.serve { socket in
                try await socket.write("ready\n")
                _ = try await socket.readLine()
            }
        }
        let socket = try await Socket.connect(to: .address(listener.localAddress))
        #expect(try await socket.readLine() == "ready")
        await listener.close()
        server.cancel()
        await #expect(throws: CancellationError.self) { try await server.value }
        await socket.close()
    }

    @Test("A listener whose loop has stopped can't serve, and gives the port back")
    func stoppedLoop() async throws {
        let group = try EventLoopGroup(loops: 1)
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group)
        await group.stop()
        await #expect { try await listener.serve { _ in } } throws: { ($0 as? SocketError)?.code == .loopStopped }
        #expect(await comesToRefuse(.address(listener.localAddress)))
        let again = try SocketListener.bind(.tcp(host: "127.0.0.1", port: listener.localAddress.port))
        await again.close()
    }

    @Test("The file of an adopted Unix socket stays when the listener closes, and others who have it listen on")
    func adoptedUnix() async throws {
        let path = "/tmp/duplex-adopted-\(UInt64.random(in: 0 ... .max)).sock"
        let descriptor = try SystemCalls.streamSocket(.unix)
        let address = try SocketAddress.unix(path)
        let code = unsafe address.withSystemAddress { unsafe bind(descriptor, $0, $1) }
        try #require(code == 0 && listen(descriptor, 8) == 0)
        defer { _ = unsafe unlink(path) }
        let copy = dup(descriptor)
        defer { SystemCalls.close(copy) }
        let listener = try SocketListener.bind(.descriptor(descriptor))
        let server = Task { try await listener.serve { socket in try await socket.write("here\n") } }
        let client = try await Socket.connect(to: .address(address))
        #expect(try await client.readLine(timeout: .limit(seconds: 10)) == "here")
        await client.close()
        server.cancel()
        _ = await server.result
        #expect(unsafe access(path, F_OK) == 0)
        #expect((try? AdoptedDescriptor.listening(descriptor)) != address)
        #expect(try AdoptedDescriptor.listening(copy) == address)
    }

    @Test("An adopted socket listens on for whoever else has it", arguments: [false, true])
    func adoptedAlone(serves: Bool) async throws {
        let (descriptor, address) = try Descriptors.listener()
        let copy = dup(descriptor)
        defer { SystemCalls.close(copy) }
        let listener = try SocketListener.bind(.descriptor(descriptor))
        if serves {
            let server = Task { try await listener.serve { socket in try await socket.write("here\n") } }
            let client = try await Socket.connect(to: .address(address), options: .patient)
            #expect(try await client.readLine(timeout: .limit(seconds: 60)) == "here")
            await client.close()
            server.cancel()
            _ = await server.result
        } else {
            await listener.close()
        }
        #expect(try AdoptedDescriptor.listening(copy) == address)
        let client = try await Socket.connect(to: .address(address), options: .patient)
        await client.reset()
    }

    private static func error(of next: () async throws -> Void) async -> SocketError? {
        do { try await next() } catch { return error as? SocketError }
        return nil
    }

    @Test("Whoever waits for connections learns that the system has taken the socket away", arguments: [false, true])
    func takenAway(isUnix: Bool) async throws {
        for serves in [false, true] {
            let address: SocketAddress =
                try isUnix
                ? .unix("@duplex-lost-\(UInt64.random(in: 0 ... .max))") : SocketAddress("127.0.0.1", port: 0)
            let descriptor = try SystemCalls.streamSocket(isUnix ? .unix : .ipv4)
            let code = unsafe address.withSystemAddress { unsafe bind(descriptor, $0, $1) }
            try #require(code == 0 && listen(descriptor, 8) == 0)
            let copy = dup(descriptor)
            defer { SystemCalls.close(copy) }
            let listener = try SocketListener.bind(.descriptor(descriptor))
            let (met, tell) = AsyncStream<Void>.makeStream()
            let waiting = Task {
                await Self.error {
                    if serves {
                        try await listener.serve { _ in tell.yield() }
                    } else {
                        for try await socket in listener {
                            tell.yield()
                            await socket.close()
                        }
                    }
                }
            }
            let client = try await Socket.connect(to: .address(listener.localAddress))
            for await _ in met { break }
            #expect(shutdown(copy, Int32(SHUT_RDWR)) == 0)
            let error = await waiting.value
            #expect(error?.code == .closed && error?.message.contains("taken away") == true, "\(isUnix) \(serves)")
            await client.close()
        }
    }

    @Test("A listener that is dropped while it is iterated gives the port back")
    func dropped() async throws {
        func takeOne() async throws -> SocketAddress {
            let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
            let address = listener.localAddress
            let client = try await Socket.connect(to: .address(address))
            for try await socket in listener {
                await socket.reset()
                break
            }
            await client.reset()
            return address
        }
        #expect(await comesToRefuse(.address(try await takeOne())))
    }
}

@Suite struct ConnectionInboxTests {
    @Test("Connections come out in the order in which they went in, also to a task that waits")
    func order() async throws {
        try await withPair { near, far in
            let inbox = ConnectionInbox()
            inbox.push(near)
            inbox.push(far)
            #expect(await inbox.next() === near)
            #expect(await inbox.next() === far)
            async let waiting = inbox.next()
            inbox.push(near)
            #expect(await waiting === near)
        }
    }

    @Test("Closing ends the wait, and what comes later is dropped")
    func closing() async throws {
        try await withPair { near, _ in
            let inbox = ConnectionInbox()
            async let waiting = inbox.next()
            inbox.close()
            #expect(await waiting == nil)
            inbox.push(near)
            #expect(await inbox.next() == nil)
        }
    }

    @Test("One that is finished gives what waits, and takes no more")
    func finishing() async throws {
        try await withPair { near, far in
            let inbox = ConnectionInbox()
            async let waiting = inbox.next()
            inbox.push(near)
            #expect(await waiting === near)
            inbox.push(near)
            #expect(!inbox.isExhausted)
            inbox.finish()
            inbox.push(far)
            #expect(!inbox.isExhausted)
            #expect(await inbox.next() === near)
            #expect(inbox.isExhausted)
            #expect(await inbox.next() == nil)
            let idle = ConnectionInbox()
            async let nothing = idle.next()
            idle.finish()
            #expect(await nothing == nil)
            #expect(idle.failure == nil)
        }
    }

    @Test("Why it was closed stays known, and only the first reason counts")
    func failure() async {
        for (first, second) in [
            (SocketError(.closed, message: "one"), nil), (nil, SocketError(.closed, message: "two")),
        ] {
            let inbox = ConnectionInbox()
            #expect(inbox.failure == nil)
            inbox.close(first)
            inbox.close(second)
            #expect(inbox.failure?.message == first?.message)
            #expect(await inbox.next() == nil)
        }
    }

    @Test("It says when it is full, and drops what finds no room in it even then")
    func bound() async throws {
        try await withPair { near, far in
            let inbox = ConnectionInbox(capacity: 2)
            inbox.push(near)
            #expect(!inbox.isFull)
            inbox.push(near)
            #expect(inbox.isFull)
            for _ in 0..<3 { inbox.push(far) }
            var taken = 0
            for socket in [near, near, far, far] {
                #expect(await inbox.next() === socket)
                taken += 1
            }
            #expect(taken == 4 && !inbox.isFull)
            async let next = inbox.next()
            inbox.close()
            #expect(await next == nil)
        }
    }

    @Test("Cancelling the task that waits ends its wait")
    func cancelling() async {
        let inbox = ConnectionInbox()
        let task = Task { await inbox.next() }
        task.cancel()
        #expect(await task.value == nil)
    }
}
