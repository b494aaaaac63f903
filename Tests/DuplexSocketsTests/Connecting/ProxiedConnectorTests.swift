// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// A proxy that is asked with a line and answers with one: `yes`, `no`, `anew` or `more`.
struct LineProxy: ProxyPolicy, ProxyRoute {
    var endpoint: Endpoint
    var tls = TLSOptions()
    var resolvesNames = false
    var families = ConnectOptions.Families.all

    func choice(for endpoint: Endpoint) -> ProxyChoice { .proxy(self) }

    func conversation(with target: ProxyTarget) -> any ProxyConversation {
        switch target {
        case .host(let host, let port): LineConversation(request: "\(host) \(port)\n")
        case .address(let bytes, _, let port): LineConversation(request: "\(bytes) \(port)\n")
        }
    }
}

struct LineConversation: ProxyConversation {
    let request: String
    private var line: [UInt8] = []

    init(request: String) {
        self.request = request
    }

    var wanted: Int { 1 }

    mutating func start() -> [UInt8] { Array(request.utf8) }

    mutating func receive(_ bytes: Span<UInt8>, from position: inout Int) throws(SocketError) -> ProxyMove {
        line.append(bytes[position])
        position += 1
        guard line.last == UInt8(ascii: "\n") else { return .wait }
        let answer = String(decoding: line.dropLast(), as: UTF8.self)
        line = []
        switch answer {
        case "yes": return .established
        case "anew": return .reconnect
        case "more": return .send(Array("please\n".utf8))
        default: throw SocketError(.proxyRefused, message: "It said \(answer).")
        }
    }

    mutating func finish() throws(SocketError) -> ProxyMove {
        throw SocketError(.proxyRefused, message: "It said nothing.")
    }
}

@Suite("Connections by way of a proxy")
struct ProxiedConnectorTests {
    private func withProxy(
        to endpoint: Endpoint = .host("target.invalid", port: 25),
        options configured: ConnectOptions = .patient,
        resolvesNames: Bool = false,
        _ body: (Task<Socket, any Error>, inout SocketListener.AsyncIterator) async throws -> Void
    ) async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        var options = configured
        var proxy = LineProxy(endpoint: .address(listener.localAddress))
        proxy.resolvesNames = resolvesNames
        options.proxying = proxy
        var iterator = listener.makeAsyncIterator()
        let attempt = Task { [options] in try await Socket.connect(to: endpoint, options: options) }
        try await body(attempt, &iterator)
        await listener.close()
    }

    @Test("The proxy gets the name, and what follows its answer is the target's")
    func established() async throws {
        try await withProxy { attempt, accept in
            let peer = try #require(try await accept.next())
            #expect(try await peer.readLine() == "target.invalid 25")
            try await peer.write("more\n")
            #expect(try await peer.readLine() == "please")
            try await peer.write("yes\nhello\n")
            let socket = try await attempt.value
            #expect(try await socket.readLine() == "hello")
            try await socket.write("there\n")
            #expect(try await peer.readLine() == "there")
            #expect(socket.timeline?.proxy != nil)
            await socket.close()
            await peer.close()
        }
    }

    @Test("Names are looked up on this side where the proxy doesn't")
    func lookedUp() async throws {
        var options = ConnectOptions.patient
        options.resolver = try FixedResolver(literals: ["target.invalid": ["192.0.2.7"]])
        try await withProxy(options: options, resolvesNames: true) { attempt, accept in
            let peer = try #require(try await accept.next())
            #expect(try await peer.readLine() == "[192, 0, 2, 7] 25")
            try await peer.write("yes\n")
            try await attempt.value.close()
            await peer.close()
        }
    }

    @Test("A proxy may ask for another connection, and not for ever")
    func again() async throws {
        try await withProxy { attempt, accept in
            for _ in 0..<4 {
                let peer = try #require(try await accept.next())
                _ = try await peer.readLine()
                try await peer.write("anew\n")
                await peer.close()
            }
            let error = await #expect(throws: SocketError.self) { try await attempt.value }
            #expect(error?.code == .proxyRefused)
        }
    }

    @Test("An address of a family that the proxy can't be asked for is refused before anything is connected")
    func families() async throws {
        var proxy = LineProxy(endpoint: .host("127.0.0.1", port: 1))
        proxy.families = .ipv4
        var options = ConnectOptions()
        options.proxying = proxy
        let connecting = options
        let error = await #expect(throws: SocketError.self) {
            try await Socket.connect(to: .host("2001:db8::1", port: 80), options: connecting)
        }
        #expect(error?.code == .cannotConnect)
    }
}
