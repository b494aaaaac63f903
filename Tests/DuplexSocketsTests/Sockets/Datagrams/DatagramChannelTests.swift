// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct DatagramChannelTests {
    /// Writes down what it is told; all on the loop.
    private final class Recorder: DatagramHandler {
        var calls: [String] = []
        var channel: DatagramChannel?
        /// How often the test has looked.
        var looks = 0

        /// What was told, once there is something and some turns have passed in which there could be more.
        func callsAtLast() -> [String]? {
            if calls.isEmpty { return nil }
            looks += 1
            return looks < 10 ? nil : calls
        }

        func readable() {
            calls.append("readable")
            channel?.isReading = false
        }

        func writable() {
            calls.append("writable")
            channel?.isWriting = false
        }

        func reported(_ code: Int32) { calls.append("reported \(code)") }

        func ended(_ error: SocketError) { calls.append("ended \(error.code)") }
    }

    /// A channel, its handler and the address that it receives on.
    private struct Place {
        var channel: DatagramChannel
        var recorder: Recorder
        var address: SocketAddress
    }

    private static func make(_ core: LoopCore) throws -> Place {
        let address = try SocketAddress("127.0.0.1", port: 0)
        let descriptor = try DatagramCalls.socket(.ipv4)
        try DatagramCalls.bind(descriptor, to: address)
        let bound = SocketAddress.local(of: descriptor) ?? address
        let channel = DatagramChannel(descriptor: descriptor, family: .ipv4, port: bound.port, core: core)
        let recorder = Recorder()
        channel.handler = recorder
        recorder.channel = channel
        return Place(channel: channel, recorder: recorder, address: bound)
    }

    /// Runs `body` on a loop, and then `later` again and again, until it gives something.
    private static func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (LoopCore) throws -> Place,
        until later: @escaping @Sendable (Place) -> Value?
    ) async throws -> Value {
        let loop = try EventLoop()
        let place = try await loop.run { core in LoopBound(try body(core), on: loop.thread) }
        var value: Value?
        while value == nil { value = try await loop.run { _ in later(place.value) } }
        _ = try await loop.run { _ in
            place.value.recorder.channel = nil
            place.value.channel.close()
        }
        await loop.stop()
        return try #require(value)
    }

    @Test("What can be received is told once it is asked for, and no longer than that")
    func readable() async throws {
        let calls = try await Self.onLoop { core in
            let place = try Self.make(core)
            place.channel.isReading = true
            for _ in 0..<3 { _ = place.channel.send([Datagram([1], to: place.address)]) }
            return place
        } until: { place in
            place.recorder.callsAtLast()
        }
        #expect(calls == ["readable"])
    }

    @Test("Room to send is told once it is asked for")
    func writable() async throws {
        let calls = try await Self.onLoop { core in
            let place = try Self.make(core)
            place.channel.isWriting = true
            return place
        } until: { place in
            place.recorder.callsAtLast()
        }
        #expect(calls == ["writable"])
    }

    @Test("An error of a connected socket is told once, with nobody reading, and the channel lives on")
    func reported() async throws {
        let (calls, isOpen) = try await Self.onLoop { core in
            let place = try Self.make(core)
            // Watched, for nothing but errors.
            place.channel.isWriting = true
            place.channel.isWriting = false
            _ = SystemCalls.connect(place.channel.descriptor, to: try SocketAddress("127.0.0.1", port: 9))
            _ = place.channel.send([Datagram([1])])
            return place
        } until: { place in
            place.recorder.callsAtLast().map { ($0, place.channel.isOpen) }
        }
        #expect(calls == ["reported \(ECONNREFUSED)"])
        #expect(isOpen)
    }

    @Test("A queue of errors that somebody has switched on doesn't keep the loop busy")
    func queuedErrors() async throws {
        let isEmpty = try await Self.onLoop { core in
            let place = try Self.make(core)
            _ = SystemCalls.setOption(place.channel.descriptor, level: Int32(IPPROTO_IP), name: IP_RECVERR, 1)
            place.channel.isReading = true
            let nobody = try SocketAddress("127.0.0.1", port: 9)
            for _ in 0..<3 { _ = place.channel.send([Datagram([1], to: nobody)]) }
            return place
        } until: { place in
            Descriptors.isReady(place.channel.descriptor, for: 0, milliseconds: 0) ? nil : true
        }
        #expect(isEmpty)
    }

    @Test("A channel that is closed says nothing more, and closing twice is the same as once")
    func closed() async throws {
        let loop = try EventLoop()
        let calls = try await loop.run { core in
            let place = try Self.make(core)
            place.channel.isReading = true
            place.channel.close()
            place.channel.close()
            place.channel.isReading = true
            place.channel.isWriting = true
            place.recorder.channel = nil
            #expect(!place.channel.isOpen && place.channel.descriptor == -1)
            return place.recorder.calls
        }
        #expect(calls == [])
        await loop.stop()
    }

    @Test("A loop that stops ends its channels")
    func loopStopped() async throws {
        let loop = try EventLoop()
        let recorder = try await loop.run { core in
            let place = try Self.make(core)
            place.channel.isReading = true
            place.recorder.channel = nil
            return LoopBound(place.recorder, on: loop.thread)
        }
        await loop.stop()
        #expect(try await loop.run { _ in recorder.value.calls } == ["ended loopStopped"])
    }
}
