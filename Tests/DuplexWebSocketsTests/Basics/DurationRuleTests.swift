// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWire
import Testing

@testable import DuplexWebSockets

/// Every duration of a WebSocket client that a caller sets: longer than zero, or an error before anything is done.
@Suite("Durations of WebSockets", .timeLimit(minutes: 2))
struct DurationRuleTests {
    static let refused: [Duration] = [.seconds(-1), .zero, .seconds(Int64.min)]
    static let huge = Duration.seconds(Int64.max)

    /// An option, and how it is set.
    struct Option<Options>: CustomStringConvertible, Sendable {
        let description: String
        var allowsZero = false
        let set: @Sendable (inout Options, Duration) -> Void
    }

    static let options: [Option<WebSocketOptions>] = [
        Option(description: "connectTimeout") { $0.connectTimeout = $1 },
        Option(description: "closeTimeout") { $0.closeTimeout = $1 },
        Option(description: "pings") { $0.pings = .every($1, timeout: .seconds(1)) },
        Option(description: "pings' timeout") { $0.pings = .every(.seconds(1), timeout: $1) },
        Option(description: "adaptive") { $0.pings = .adaptive(from: $1, to: .seconds(9), timeout: .seconds(1)) },
        Option(description: "longest") { $0.pings = .adaptive(from: .seconds(1), to: $1, timeout: .seconds(1)) },
        Option(description: "limits.messageTime") { $0.limits.messageTime = $1 },
        Option(description: "handshakeLimits.headTime") { $0.handshakeLimits.headTime = $1 },
        Option(description: "tls.handshakeTimeout") { $0.tls.handshakeTimeout = $1 },
        Option(description: "metrics.interval") {
            var metrics = WebSocketMetrics()
            metrics.interval = $1
            $0.metrics = metrics
        },
    ]

    @Test("Connecting refuses an option that isn't longer than zero, before anything is connected", arguments: options)
    func connecting(option: Option<WebSocketOptions>) async throws {
        for time in Self.refused {
            var options = WebSocketOptions()
            option.set(&options, time)
            let error = await #expect(throws: WebSocketError.self) {
                _ = try await WebSocket.connect(to: "ws://127.0.0.1:1/", options: options)
            }
            #expect(error?.code == .invalidArgument, "\(time): \(String(describing: error))")
        }
    }

    @Test("An option that is longer than any clock counts is as good as none", arguments: options)
    func huge(option: Option<WebSocketOptions>) async throws {
        var options = WebSocketOptions()
        option.set(&options, Self.huge)
        try await withPair(options: options) { client, server in
            try await client.send("hello")
            #expect(try await server.receive() == .text("hello"))
            await client.close()
        }
    }

    @Test("Pings and requests refuse such timeouts, and the connection goes on")
    func calls() async throws {
        try await withPair { client, server in
            for time in Self.refused {
                for ping in [{ try await client.ping(timeout: time) }, { try await client.ping([1], timeout: time) }] {
                    let error = await #expect(throws: WebSocketError.self) { _ = try await ping() }
                    #expect(error?.code == .invalidArgument)
                }
            }
            async let answer = server.receive()
            _ = try await client.ping(timeout: Self.huge)
            try await client.send("end")
            #expect(try await answer == .text("end"))
        }
        try await withClient { socket, peer in
            let requests = TypedWebSocket(socket, codec: NoteCodec())
                .requests(requestID: { $0.id ?? 0 }, responseID: \.id)
            for time in Self.refused {
                let error = await #expect(throws: WebSocketError.self) {
                    _ = try await requests.request(Note(id: 1, text: "ask"), timeout: time)
                }
                #expect(error?.code == .invalidArgument)
            }
            async let answer = requests.request(Note(id: 2, text: "ask"), timeout: Self.huge)
            _ = try await peer.readFrame()
            try await peer.send(.text("2:answer"))
            #expect(try await answer.text == "answer")
        }
    }

    /// Options of a client that reconnects, with its policy.
    struct Client {
        var options = ReconnectOptions()
        var policy = ReconnectPolicy.standard
    }

    static let reconnecting: [Option<Client>] = [
        Option(description: "attemptTimeout") { $0.options.attemptTimeout = $1 },
        Option(description: "probeTimeout") { $0.options.probeTimeout = $1 },
        Option(description: "webSocketOptions.closeTimeout") { $0.options.webSocketOptions.closeTimeout = $1 },
        Option(description: "policy.timeLimit") { $0.policy.timeLimit = $1 },
        Option(description: "delayLimit", allowsZero: true) { $0.policy.delayLimit = $1 },
        Option(description: "restoreTime", allowsZero: true) { $0.policy.restoreTime = $1 },
        Option(description: "constant", allowsZero: true) { $0.policy.backoff = .constant($1) },
        Option(description: "exponential", allowsZero: true) {
            $0.policy.backoff = .exponential(from: .milliseconds(1), to: $1)
        },
        Option(description: "delays", allowsZero: true) { $0.policy.backoff = .delays([.milliseconds(1), $1]) },
    ]

    @Test(
        "A client that reconnects ends at its first attempt with the error, and says nothing to the network",
        arguments: reconnecting
    )
    func clientEnds(option: Option<Client>) async throws {
        for time in Self.refused where time < .zero || !option.allowsZero {
            var client = Client()
            option.set(&client, time)
            let socket = ReconnectingWebSocket(
                "ws://127.0.0.1:1/",
                policy: client.policy,
                options: client.options
            )
            let error = await #expect(throws: WebSocketError.self) { for try await _ in socket.messages {} }
            #expect(error?.code == .invalidArgument, "\(time): \(String(describing: error))")
        }
    }

    @Test("A client that reconnects works with durations longer than any clock counts", arguments: reconnecting)
    func clientWorks(option: Option<Client>) async throws {
        var client = Client()
        option.set(&client, Self.huge)
        let options = client
        try await withListener { url, accept in
            let socket = ReconnectingWebSocket(url, policy: options.policy, options: options.options)
            await socket.start()
            let peer = try await accept()
            try await peer.acceptWebSocket()
            try await peer.send(.text("hello"))
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("hello"))
            await peer.reset()
            await socket.close()
        }
    }
}
