// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import Testing

@testable import DuplexServer

@Suite(.timeLimit(minutes: 1)) struct ServiceNotifierTests {
    /// What a service manager has got so far.
    private func received(_ descriptor: Int32) -> [String] {
        let buffer = ReceiveBuffer()
        guard
            case .received(let datagrams) = DatagramCalls.receive(descriptor, upTo: 8, size: 512, port: 0, in: buffer)
        else { return [] }
        return datagrams.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test("A service manager is told what it asks for, by the socket that it names")
    func states() throws {
        let path = "@duplex-notify-\(UInt32.random(in: 0 ... .max))"
        let descriptor = try DatagramCalls.socket(.unix)
        defer { SystemCalls.close(descriptor) }
        try DatagramCalls.bind(descriptor, to: .unix(path))
        let variables = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000000"]
        let notifier = try #require(ServiceNotifier { variables[$0] })
        #expect(notifier.watchdogInterval == .seconds(2))
        notifier.ready()
        notifier.reloading()
        notifier.alive()
        notifier.stopping()
        let texts = received(descriptor)
        #expect(texts.count == 4)
        #expect(texts.first == "READY=1" && texts.suffix(2) == ["WATCHDOG=1", "STOPPING=1"])
        let reloading = texts.count > 1 ? texts[1].split(separator: "\n") : []
        #expect(reloading.first == "RELOADING=1" && reloading.last?.hasPrefix("MONOTONIC_USEC=") == true)
    }

    @Test("Without a manager there is none, and one that has gone harms nobody")
    func none() throws {
        #expect(ServiceNotifier { _ in nil } == nil)
        #expect(ServiceNotifier { _ in "" } == nil)
        let variables = ["NOTIFY_SOCKET": "@duplex-nobody-\(UInt32.random(in: 0 ... .max))"]
        let notifier = try #require(ServiceNotifier { variables[$0] })
        notifier.ready()
        #expect(notifier.watchdogInterval == nil)
    }
}
