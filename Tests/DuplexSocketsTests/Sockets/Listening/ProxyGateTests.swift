// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Logging
import Testing

@testable import DuplexSockets

@Suite struct ProxyGateTests {
    private struct Recorder: LogHandler {
        let lines: AsyncStream<String>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if let reason = event.metadata?["reason"] { lines.yield("\(event.level): \(reason)") }
        }
    }

    private static let v1 = Array("PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n".utf8)
    private static let v2 = ProxyBytes.header(
        0x21,
        0x21,
        ProxyBytes.ipv6 + ProxyBytes.field(2, Array("a.example".utf8))
    )

    /// Trusts this machine, and waits however busy it is.
    private static let patient = ProxyProtocol.required(from: IPNetwork.loopback, timeout: .seconds(120))

    /// Serves beside the body, on one loop: each connection is told who it is, and what it sends is sent back.
    private func withServer(
        _ policy: ProxyProtocol,
        host: LocalHost = "127.0.0.1",
        on group: EventLoopGroup? = nil,
        _ body: (SocketAddress, AsyncStream<String>) async throws -> Void
    ) async throws {
        let (reasons, continuation) = AsyncStream<String>.makeStream()
        let group = try group ?? EventLoopGroup(loops: 1)
        let logger = Logger(label: "test") { _ in Recorder(lines: continuation) }
        let listener = try SocketListener.bind(
            .tcp(host: host, port: 0),
            on: group,
            proxyProtocol: policy,
            logger: logger
        )
        let server = Task {
            try await listener.serve { socket in
                try await socket.write("\(socket.remoteAddress?.description ?? "?")\n")
                try await socket.write("\(socket.proxyHeader?.source?.description ?? "none")\n")
                while let bytes = try await socket.read() { try await socket.write(bytes) }
            }
        }
        do {
            try await body(listener.localAddress, reasons)
        } catch {
            server.cancel()
            throw error
        }
        server.cancel()
        _ = await server.result
        await group.stop()
    }

    /// Connects and sends in one breath, so that nothing comes between however busy the machine is.
    private static func connect(_ address: SocketAddress, sending bytes: [UInt8]) async throws -> Socket {
        let descriptor = try SystemCalls.streamSocket(address.family)
        _ = SystemCalls.connect(descriptor, to: address)
        try #require(Descriptors.isReady(descriptor, for: POLLOUT))
        #expect(Descriptors.send(descriptor, bytes) == .transferred(bytes.count))
        return try await Socket.adopt(descriptor: descriptor)
    }

    private static func lines(_ socket: Socket, _ count: Int) async throws -> [String?] {
        var lines: [String?] = []
        for _ in 0..<count { lines.append(try await socket.readLine(timeout: .limit(seconds: 30))) }
        return lines
    }

    private static func next(_ stream: AsyncStream<String>) async -> String? {
        for await line in stream { return line }
        return nil
    }

    /// Whether the peer has reset the connection, or ended it.
    private static func isRefused(_ socket: Socket) async -> Bool {
        do {
            return try await socket.read(timeout: .limit(seconds: 30)) == nil
        } catch {
            return (error as? SocketError)?.code == .connectionReset
        }
    }

    @Test("The client's address is the header's, and what follows the header is data", arguments: [v1, v2])
    func admission(header: [UInt8]) async throws {
        let client = header == Self.v1 ? "192.0.2.1:56324" : "[2001:db8::1]:56324"
        try await withServer(Self.patient) { address, _ in
            let data = Array("PROXY data\n".utf8)
            // In one piece, and cut in the middle of the header: the rest is sent once the server has had the first part.
            let whole = try await Socket.connect(to: .address(address))
            try await whole.write(header + data)
            #expect(try await Self.lines(whole, 3) == [client, client, "PROXY data"])
            await whole.close()
            let cut = try await Socket.connect(to: .address(address))
            for byte in header { try await cut.write([byte]) }
            #expect(try await Self.lines(cut, 2) == [client, client])
            try await cut.write(data)
            #expect(try await Self.lines(cut, 1) == ["PROXY data"])
            await cut.close()
        }
    }

    @Test(
        "A proxy that speaks for itself is the peer",
        arguments: [Array("PROXY UNKNOWN\r\n".utf8), ProxyBytes.header(0x20, 0, [])]
    )
    func local(header: [UInt8]) async throws {
        try await withServer(Self.patient) { address, _ in
            let proxy = try await Socket.connect(to: .address(address))
            try await proxy.write(header)
            #expect(try await Self.lines(proxy, 2) == [proxy.localAddress?.description, "none"])
            await proxy.close()
        }
    }

    @Test("A proxy may come over a Unix socket, whose file says who may connect")
    func unix() async throws {
        let path = "/tmp/duplex-proxy-\(UInt64.random(in: 0 ... .max)).sock"
        let policy = ProxyProtocol.required(from: [], timeout: .seconds(120))
        let listener = try SocketListener.bind(.unix(path), proxyProtocol: policy)
        var iterator = listener.makeAsyncIterator()
        let proxy = try await Self.connect(try .unix(path), sending: Self.v1 + Array("data\n".utf8))
        let socket = try #require(try await iterator.next())
        #expect(socket.remoteAddress?.description == "192.0.2.1:56324")
        #expect(socket.proxyHeader?.destination?.description == "198.51.100.2:443")
        #expect(socket.proxyAddress == nil)
        #expect(try await Self.lines(socket, 1) == ["data"])
        await proxy.close()
        await socket.close()
        await listener.close()
    }

    @Test("Who isn't a proxy is refused, whatever it sends, and it is logged")
    func untrusted() async throws {
        try await withServer(.required(from: [try IPNetwork("192.0.2.0/24")])) { address, reasons in
            do {
                let stranger = try await Socket.connect(to: .address(address))
                try? await stranger.write(Self.v1)
                #expect(await Self.isRefused(stranger))
                await stranger.close()
            } catch {
                // The reset may come before the connecting is done.
                #expect((error as? SocketError)?.code == .cannotConnect)
            }
            let line = try #require(await Self.next(reasons))
            // Anybody can bring it about, as often as they like.
            #expect(line.hasPrefix("debug: ") && line.contains("no proxy"))
        }
    }

    @Test("What isn't a header is refused, and it is logged; others go on")
    func invalid() async throws {
        try await withServer(Self.patient) { address, reasons in
            let texts = [("GET / HTTP/1.1\r\n", "begin"), ("PROXY TCP4 1 2 3 4\r\n", "addresses"), ("PROXY", "ended")]
            for (text, reason) in texts {
                let client = try await Socket.connect(to: .address(address))
                try await client.write(text)
                if text == "PROXY" { await client.finishWriting() }
                #expect(await Self.isRefused(client))
                #expect(await Self.next(reasons)?.contains(reason) == true)
                await client.close()
            }
        }
    }

    @Test("A header that doesn't come holds nobody up, and is waited for as long as was said")
    func slow() async throws {
        let (loop, group) = try makeManualGroup()
        let policy = ProxyProtocol.required(from: IPNetwork.loopback, timeout: .seconds(3))
        try await withServer(policy, on: group) { address, reasons in
            let silent = try await Socket.connect(to: .address(address))
            let slow = try await Socket.connect(to: .address(address))
            try await slow.write(Array(Self.v2.prefix(20)))
            let quick = try await Self.connect(address, sending: Self.v1)
            #expect(try await Self.lines(quick, 1) == ["192.0.2.1:56324"])
            // The others were accepted before it.
            await loop.advance(by: .seconds(3))
            #expect(await Self.isRefused(silent))
            #expect(await Self.isRefused(slow))
            for _ in 0..<2 { #expect(await Self.next(reasons)?.contains("within") == true) }
            // The timers of those that got through are gone.
            try await quick.write("still here\n")
            #expect(try await Self.lines(quick, 2).last == "still here")
            for socket in [silent, slow, quick] { await socket.close() }
        }
    }

    @Test("Without the header, the socket knows no proxy, and a header is data")
    func off() async throws {
        try await withServer(.off) { address, _ in
            let client = try await Socket.connect(to: .address(address))
            try await client.write(Self.v1)
            let line = String(decoding: Self.v1.dropLast(2), as: UTF8.self)
            #expect(try await Self.lines(client, 3) == [client.localAddress?.description, "none", line])
            await client.close()
        }
    }

    /// A gate over descriptors, and what it lets through.
    private static func makeGate(_ core: LoopCore, _ through: AsyncStream<Int32>.Continuation) -> ProxyGate {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ProxyGate(policy: patient, core: core, logger: logger, capacity: 2) { descriptor, _ in
            through.yield(descriptor)
        }
    }

    @Test("Closing the gate closes what waits, and what comes")
    func closing() async throws {
        try await withLoop { loop in
            let (pair, late) = (try Descriptors.pair(), try Descriptors.pair())
            let (_, continuation) = AsyncStream<Int32>.makeStream()
            let counts = try await loop.run { core in
                let gate = Self.makeGate(core, continuation)
                gate.admit(pair.far, try SocketAddress("127.0.0.1", port: 1))
                let before = gate.count
                gate.close()
                gate.admit(late.far, try SocketAddress("127.0.0.1", port: 1))
                return [before, gate.count]
            }
            #expect(counts == [1, 0])
            for descriptor in [pair.near, late.near] {
                #expect(Descriptors.read(descriptor) == [])
                SystemCalls.close(descriptor)
            }
        }
    }

    @Test("The loop's end closes what waits")
    func stopping() async throws {
        let loop = try EventLoop()
        let pair = try Descriptors.pair()
        let (_, continuation) = AsyncStream<Int32>.makeStream()
        let gate = try await loop.run { core in
            let gate = Self.makeGate(core, continuation)
            gate.admit(pair.far, try SocketAddress("127.0.0.1", port: 1))
            return LoopBound(gate, on: loop.thread)
        }
        await loop.stop()
        #expect(Descriptors.read(pair.near) == [])
        SystemCalls.close(pair.near)
        _ = gate
    }

    @Test("A header that has come already is taken at once, and what can't wait any more is refused")
    func capacity() async throws {
        try await withLoop { loop in
            let (descriptors, continuation) = AsyncStream<Int32>.makeStream()
            let ready = try Descriptors.pair()
            _ = Descriptors.send(ready.near, Self.v1 + [1, 2, 3])
            #expect(Descriptors.isReady(ready.far))
            let refused = try Descriptors.pair()
            let address = try SocketAddress("127.0.0.1", port: 1)
            let waiting = try (0..<2).map { _ in try Descriptors.pair() }
            let count = try await loop.run { core in
                let gate = Self.makeGate(core, continuation)
                gate.admit(ready.far, address)
                let afterFirst = gate.count
                for pair in waiting { gate.admit(pair.far, address) }
                let full = gate.count
                gate.admit(refused.far, address)
                gate.close()
                return [afterFirst, full]
            }
            #expect(count == [0, 2])
            var iterator = descriptors.makeAsyncIterator()
            #expect(await iterator.next() == ready.far)
            #expect(Descriptors.read(ready.far) == [1, 2, 3])
            #expect(Descriptors.read(refused.near) == nil)
            for descriptor in [ready.near, ready.far, refused.near] + waiting.map(\.near) {
                SystemCalls.close(descriptor)
            }
        }
    }
}
