// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexWebSockets

/// A client that reconnects behind a network that fails in every way, as a seed says.
@Suite(.timeLimit(minutes: 2)) struct ReconnectingFaultTests {
    /// What goes wrong next.
    private enum Fault: CaseIterable {
        /// Both sides have their connection reset.
        case reset
        /// The same behind some bytes, in the middle of whatever they are.
        case cut
        /// The stream to the client ends without a closing handshake.
        case dropped
        /// Nothing comes through any more, and nobody says so; a new network has the client ask, and try anew at once.
        case halfOpen
        /// What goes to the server is held back, and then the connection is reset.
        case stalled
        /// Nobody listens, for one attempt.
        case refused
        /// The server is busy, for one attempt, and says for how long.
        case busy
        /// The answer to an attempt comes late, when the network has changed.
        case late
        /// One attempt gets to somebody else, whose certificate isn't the server's.
        case untrusted

        static func among(_ isSecured: Bool, _ random: inout SeededGenerator) -> Fault {
            let faults = allCases.filter { isSecured || $0 != .untrusted }
            return faults[Int.random(in: 0..<faults.count, using: &random)]
        }
    }

    /// The server of a schedule: it keeps what comes and acknowledges it.
    private final class Received: Sendable {
        let messages = Mutex<[(connection: Int, text: String)]>([])
        private let connections = Mutex(0)
        let isBusy = Mutex(false)
        let arrivals: AsyncStream<String>
        private let arrival: AsyncStream<String>.Continuation

        init() { (arrivals, arrival) = AsyncStream.makeStream() }

        private func nextConnection() -> Int {
            connections.withLock { count in
                count += 1
                return count
            }
        }

        func took(_ text: String, _ connection: Int) {
            messages.withLock { $0.append((connection, text)) }
            arrival.yield(text)
        }

        /// What came is what was promised, and in order.
        ///
        /// Connection by connection: the server may get to what came by one when the next has brought more already.
        func check(_ sent: [String], isAcknowledged: Bool) {
            let came = messages.withLock { $0 }
            let last = came.map(\.connection).max() ?? 0
            let messages = (0...last).flatMap { number in came.filter { $0.connection == number }.map(\.text) }
            if isAcknowledged {
                var first: [String] = []
                for text in messages where !first.contains(text) { first.append(text) }
                #expect(first == sent, "\(messages)")
            } else {
                #expect(messages == sent.filter(messages.contains), "\(messages) of \(sent)")
                #expect(messages.suffix(2) == sent.suffix(2))
            }
        }

        func configure(_ server: inout WebServer) {
            server.webSocket("/") { [self] _ -> Admission<Int> in
                guard isBusy.withLock({ $0 }) else { return .accepted(nextConnection()) }
                var response = Response.text("busy", status: .serviceUnavailable)
                response.headers[.retryAfter] = "0"
                return .refused(response)
            } handler: { [self] socket, _, connection in
                for try await message in socket.messages {
                    guard case .text(let text) = message else { continue }
                    took(text, connection)
                    try await socket.send("ack \(text)")
                }
            }
        }
    }

    private static let acknowledged = ReconnectDelivery.atLeastOnce { sent, by in
        guard case .text(let sent) = sent, case .text(let by) = by else { return false }
        return by == "ack \(sent)"
    }

    private static func options(_ delivery: ReconnectDelivery, _ trusted: TLSIdentity) -> ReconnectOptions {
        var options = ReconnectOptions()
        options.delivery = delivery
        options.probeTimeout = .milliseconds(20)
        options.webSocketOptions.compression = .disabled
        options.webSocketOptions.tls.trust = .roots(trusted.certificates)
        return options
    }

    /// Waits for ever unless the network changes, and doesn't give up on a certificate that isn't trusted.
    private static var policy: ReconnectPolicy {
        var policy = ReconnectPolicy.constant(.seconds(3_600))
        policy.classifier = .standard.except { $0.kind == .untrusted ? .retry : nil }
        return policy
    }

    /// Half of the schedules go over TLS.
    private static func withServers(
        _ received: Received,
        _ identity: TLSIdentity,
        isSecured: Bool,
        _ body: @escaping @Sendable (_ server: SocketAddress, _ impostor: SocketAddress) async throws -> Void
    ) async throws {
        let other = try TLSIdentity.selfSigned(for: ["localhost"])
        try await withServer { server in
            received.configure(&server)
            if isSecured { server.tls = TLSServerOptions.patient(identity) }
        } _: { address in
            try await withServer { impostor in
                impostor.tls = TLSServerOptions.patient(other)
            } _: { impostor in
                try await body(address, impostor)
            }
        }
    }

    /// One schedule: the client, what the proxy did to it, and what its states have said.
    private struct Schedule {
        let proxy: FaultProxy
        /// Where a server with another certificate is.
        let impostor: SocketAddress
        let received: Received
        let client: ReconnectingWebSocket
        let states: AsyncStream<ReconnectChange>
        var random: SeededGenerator
        var seen: [String] = []
        var expected = ["connecting 0", "open"]
        var sent: [String] = []

        mutating func send(_ count: Int) async throws {
            for _ in 0..<count {
                let text = "\(sent.count + 1)"
                sent.append(text)
                try await client.send(text)
            }
        }

        /// Waits for as many changes as there must have been.
        mutating func catchUp() async {
            seen += await ReconnectingWebSocket.changes(states, count: expected.count - seen.count)
        }

        /// The connection is lost; nothing is tried before the network is said to be another one.
        private mutating func lost() async {
            expected.append("waiting 1006")
            await catchUp()
            proxy.faults = .none
        }

        private mutating func retry(_ outcome: String) async {
            expected += ["connecting 0 network", outcome]
            await client.networkChanged()
            await catchUp()
        }

        /// Makes a fault happen to the open connection, until the client is connected again.
        mutating func suffer(_ fault: Fault) async throws {
            switch fault {
            case .reset, .refused, .busy, .late, .untrusted: await proxy.resetConnections()
            case .cut:
                proxy.faults = .reset(after: Int.random(in: 1...7, using: &random), in: .toServer)
                try await send(1)
            case .dropped:
                proxy.faults = .end(after: 0, in: .toClient)
                try await send(1)
            case .halfOpen:
                proxy.faults = .stall()
                try await send(1)
                await client.networkChanged()
            case .stalled:
                proxy.faults = .stall(in: .toServer)
                try await send(1)
                try await proxy.wait { $0.stalled > 0 }
                await proxy.resetConnections()
            }
            await lost()
            switch fault {
            case .refused:
                await proxy.refuseConnections()
                await retry("waiting network")
                try await proxy.acceptConnections()
            case .busy:
                received.isBusy.withLock { $0 = true }
                await retry("waiting 503")
                received.isBusy.withLock { $0 = false }
            case .late:
                proxy.faults = .stall(in: .toClient)
                expected += ["connecting 0 network", "open"]
                await client.networkChanged()
                try await proxy.wait { $0.stalled > 0 }
                proxy.faults = .none
                return await catchUp()
            case .untrusted:
                let server = proxy.target
                proxy.target = .address(impostor)
                await retry("waiting untrusted")
                proxy.target = server
            case .halfOpen:
                expected += ["connecting 0", "open"]
                return await catchUp()
            case .reset, .cut, .dropped, .stalled: break
            }
            await retry("open")
        }
    }

    @Test(
        "Nothing is lost or doubled against what is promised, and the states are what the proxy did",
        arguments: 0..<100
    )
    func schedules(seed: UInt64) async throws {
        let (isAcknowledged, isSecured) = (seed.isMultiple(of: 2), seed % 4 > 1)
        let (received, identity) = (Received(), try TLSIdentity.selfSigned(for: ["localhost"]))
        try await Self.withServers(received, identity, isSecured: isSecured) { address, impostor in
            let proxy = try await FaultProxy.start(to: .address(address))
            let client = ReconnectingWebSocket(
                [isSecured ? "wss://localhost:\(proxy.address.port)/" : "ws://\(proxy.address)/"],
                policy: Self.policy,
                options: Self.options(isAcknowledged ? Self.acknowledged : .atMostOnce, identity)
            )
            let reader = Task { for try await _ in client.messages {} }
            var schedule = Schedule(
                proxy: proxy,
                impostor: impostor,
                received: received,
                client: client,
                states: client.stateChanges,
                random: SeededGenerator(seed: seed)
            )
            await client.start()
            await schedule.catchUp()
            for _ in 0..<4 {
                try await schedule.send(Int.random(in: 0...3, using: &schedule.random))
                try await schedule.suffer(.among(isSecured, &schedule.random))
            }
            try await schedule.send(2)
            for await text in received.arrivals where text == schedule.sent.last { break }
            if isAcknowledged { while await !client.undelivered.isEmpty { await Task.yield() } }
            await client.close()
            try await reader.value
            await proxy.stop()
            schedule.expected.append("closed")
            await schedule.catchUp()
            #expect(schedule.seen == schedule.expected)
            received.check(schedule.sent, isAcknowledged: isAcknowledged)
        }
    }
}
