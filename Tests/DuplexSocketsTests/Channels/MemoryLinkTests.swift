// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("A connection within the process")
struct MemoryLinkTests {
    private static func receive(_ link: MemoryLink, _ side: MemoryLink.Side, _ limit: Int = 64) -> TransferResult {
        var bytes = [UInt8](repeating: 0, count: limit)
        return unsafe bytes.withUnsafeMutableBytes { unsafe link.receive(side, into: $0) }
    }

    private static func send(_ link: MemoryLink, _ side: MemoryLink.Side, _ count: Int) -> TransferResult {
        let bytes = [UInt8](repeating: 1, count: count)
        return unsafe bytes.withUnsafeBytes { unsafe link.send(side, [$0]) }
    }

    @Test("A side is ready as a socket of the system would be")
    func readiness() {
        let link = MemoryLink(capacity: 4)
        #expect(link.readiness(of: .near) == .writable && link.readiness(of: .far) == .writable)
        #expect(Self.receive(link, .far) == .wouldBlock)
        #expect(Self.send(link, .near, 6) == .transferred(4) && Self.send(link, .near, 1) == .wouldBlock)
        #expect(link.readiness(of: .near) == [])
        #expect(link.readiness(of: .far) == [.readable, .writable])
        #expect(Self.receive(link, .far) == .transferred(4) && link.received(by: .far) == 4)
        link.finishWriting(.near)
        #expect(link.readiness(of: .far) == [.readable, .writable] && Self.receive(link, .far) == .transferred(0))
        #expect(Self.send(link, .far, 2) == .transferred(2) && Self.receive(link, .near) == .transferred(2))
    }

    @Test("A side that has closed takes nothing, and one that closes with bytes unread resets the connection")
    func closing() {
        let link = MemoryLink()
        link.close(.far, withReset: false)
        #expect(Self.receive(link, .near) == .transferred(0) && Self.send(link, .near, 1) == .failed(32))
        #expect(link.readiness(of: .near) == [.readable, .writable] && link.pendingError(of: .near) == 0)
        link.finishWriting(.near)
        #expect(link.readiness(of: .near).contains(.failed))
        let unread = MemoryLink()
        #expect(Self.send(unread, .near, 1) == .transferred(1))
        #expect(Self.send(unread, .far, 1) == .transferred(1))
        unread.close(.far, withReset: false)
        #expect(Self.receive(unread, .near) == .transferred(1))
        #expect(Self.receive(unread, .near) == .failed(104) && unread.pendingError(of: .near) == 104)
    }

    @Test("A reset drops what is on its way, and fails both sides")
    func resetting() {
        let link = MemoryLink()
        #expect(Self.send(link, .near, 5) == .transferred(5))
        link.close(.near, withReset: true)
        #expect(Self.receive(link, .far) == .failed(104) && Self.send(link, .far, 1) == .failed(104))
        let cut = MemoryLink()
        cut.reset()
        for side in [MemoryLink.Side.near, .far] { #expect(Self.receive(cut, side) == .failed(104)) }
    }

    @Test("What happens to the bytes of one direction fails both sides")
    func faults() {
        var faults = MemoryFlow.Faults()
        faults.resetAfter = 3
        let link = MemoryLink(toFar: faults)
        #expect(Self.send(link, .near, 5) == .transferred(5) && Self.receive(link, .far) == .transferred(3))
        #expect(Self.receive(link, .far) == .failed(104) && Self.receive(link, .near) == .failed(104))
        faults.resetAfter = 0
        #expect(Self.send(MemoryLink(toNear: faults), .near, 1) == .failed(104))
    }

    @Test("What is held back is let through when it is released, and faults may come later")
    func holding() {
        let link = MemoryLink()
        var faults = MemoryFlow.Faults()
        faults.stallAfter = 0
        link.setFaults(faults, to: .far)
        #expect(Self.send(link, .near, 5) == .transferred(5) && Self.receive(link, .far) == .wouldBlock)
        link.release(2, to: .far)
        #expect(Self.receive(link, .far) == .transferred(2) && Self.receive(link, .far) == .wouldBlock)
        link.release(to: .far)
        #expect(Self.receive(link, .far) == .transferred(3))
    }

    @Test("A reader that keeps a pace gets so much in each interval of the loop's time")
    func pace() async throws {
        try await withManualLoop { loop in
            var faults = MemoryFlow.Faults()
            faults.pace = MemoryFlow.Pace(bytes: 10, interval: .seconds(1))
            let link = MemoryLink(toFar: faults)
            let near = await link.socket(.near, on: loop)
            let far = await link.socket(.far, on: loop)
            try await near.write([UInt8](repeating: 1, count: 25))
            let read = await loop.begin { try await far.read(exactly: 25) }
            #expect(link.received(by: .far) == 10)
            await loop.advance(by: .seconds(1))
            #expect(link.received(by: .far) == 20)
            await loop.advance(by: .milliseconds(999))
            #expect(link.received(by: .far) == 20)
            await loop.advance(by: .milliseconds(1))
            #expect(try await read.value.count == 25)
            await near.reset()
            await far.reset()
        }
    }
}

@Suite("One direction of a connection within the process")
struct MemoryFlowTests {
    private static func flow(_ capacity: Int = 10, _ change: (inout MemoryFlow.Faults) -> Void = { _ in }) -> MemoryFlow
    {
        var faults = MemoryFlow.Faults()
        change(&faults)
        return MemoryFlow(capacity: capacity, faults: faults)
    }

    private static func send(_ bytes: [UInt8], _ flow: inout MemoryFlow) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe flow.send($0) }
    }

    private static func receive(_ limit: Int, _ flow: inout MemoryFlow) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe flow.receive(into: $0) }
        return Array(bytes.prefix(count))
    }

    @Test("Bytes come out in order, and no more wait than there is room for")
    func order() {
        var flow = Self.flow(4)
        #expect(Self.send([1, 2, 3], &flow) == 3)
        #expect(flow.room == 1 && flow.available == 3 && flow.hasUnread)
        #expect(Self.send([4, 5], &flow) == 1)
        #expect(flow.room == 0 && Self.send([6], &flow) == 0)
        #expect(Self.receive(2, &flow) == [1, 2])
        #expect(Self.send([5, 6], &flow) == 2)
        #expect(Self.receive(9, &flow) == [3, 4, 5, 6])
        #expect(flow.passed == 6 && !flow.hasUnread)
    }

    @Test("Much that comes and goes takes no more memory than waits", arguments: [1, 3, 7, 1_000])
    func circulation(piece: Int) {
        var flow = Self.flow(1_000)
        var sent: UInt8 = 0
        var received: UInt8 = 0
        for _ in 0..<2_000 {
            let bytes = (0..<piece).map { sent &+ UInt8(truncatingIfNeeded: $0) }
            sent &+= UInt8(truncatingIfNeeded: Self.send(bytes, &flow))
            for byte in Self.receive(max(1, piece - 1), &flow) {
                #expect(byte == received)
                received &+= 1
            }
        }
    }

    @Test("The stream ends behind what waits")
    func end() {
        var flow = Self.flow()
        _ = Self.send([1], &flow)
        flow.finish()
        #expect(!flow.hasEnded)
        #expect(Self.receive(5, &flow) == [1] && flow.hasEnded)
    }

    @Test("A receive takes a piece at most")
    func pieces() {
        var flow = Self.flow { $0.pieceSize = 2 }
        _ = Self.send([1, 2, 3], &flow)
        #expect(Self.receive(9, &flow) == [1, 2])
        #expect(Self.receive(9, &flow) == [3])
    }

    @Test("The connection is cut off, ends or stalls behind so many bytes")
    func places() {
        var reset = Self.flow { $0.resetAfter = 2 }
        _ = Self.send([1, 2, 3], &reset)
        #expect(!reset.isCutOff && Self.receive(9, &reset) == [1, 2] && reset.isCutOff)
        #expect(Self.flow { $0.resetAfter = 0 }.isCutOff)
        var ended = Self.flow { $0.endAfter = 2 }
        _ = Self.send([1, 2, 3], &ended)
        #expect(Self.receive(9, &ended) == [1, 2] && ended.hasEnded && ended.available == 0)
        #expect(Self.send([UInt8](repeating: 0, count: 100), &ended) == 100)
        var stalled = Self.flow { $0.stallAfter = 1 }
        _ = Self.send([1, 2, 3, 4], &stalled)
        #expect(Self.receive(9, &stalled) == [1] && stalled.available == 0 && !stalled.hasEnded)
        stalled.release(2)
        #expect(Self.receive(9, &stalled) == [2, 3] && stalled.available == 0)
        stalled.release()
        #expect(Self.receive(9, &stalled) == [4])
    }

    @Test("A slow reader takes so many bytes in each interval")
    func pace() {
        var flow = Self.flow { $0.pace = MemoryFlow.Pace(bytes: 2, interval: .seconds(1)) }
        _ = Self.send([1, 2, 3], &flow)
        #expect(Self.receive(9, &flow) == [1, 2] && flow.waitsForPace && flow.available == 0)
        flow.renewAllowance()
        #expect(!flow.waitsForPace && Self.receive(9, &flow) == [3] && !flow.waitsForPace)
    }

    @Test("What was sent can be dropped, and the faults replaced while bytes wait")
    func changes() {
        var flow = Self.flow { $0.stallAfter = 0 }
        _ = Self.send([1, 2], &flow)
        flow.set(MemoryFlow.Faults())
        #expect(flow.available == 2)
        flow.drop()
        #expect(flow.available == 0 && flow.room == 10)
    }

    @Test("The bytes of new faults are counted from when they were set")
    func counting() {
        var flow = Self.flow()
        _ = Self.send([1, 2, 3, 4, 5], &flow)
        #expect(Self.receive(2, &flow) == [1, 2])
        var faults = MemoryFlow.Faults()
        faults.resetAfter = 1
        flow.set(faults)
        #expect(!flow.isCutOff && flow.available == 1)
        #expect(Self.receive(9, &flow) == [3] && flow.isCutOff && flow.passed == 3)
        faults.resetAfter = nil
        faults.stallAfter = 0
        flow.set(faults)
        #expect(flow.available == 0)
        flow.release(1)
        #expect(Self.receive(9, &flow) == [4] && flow.available == 0)
    }
}

@Suite("One end of a connection within the process, on its loop")
struct MemoryEndTests {
    /// Notes what it is told.
    private final class Watcher: DescriptorHandler {
        var told: [Readiness] = []
        var hasStopped = false
        var end: MemoryEnd?

        func ready(_ readiness: Readiness) {
            told.append(readiness)
            if told.count == 3 { end?.modify([]) }
        }

        func loopStopped() {
            hasStopped = true
            end?.unwatch()
        }
    }

    @Test("It tells what is so in every turn, until that isn't asked for any more, and of the loop's end")
    func levelTriggered() async throws {
        let loop = try EventLoop(name: "manual", poller: SystemPoller.make(), clock: .manual(ManualTime()))
        let link = MemoryLink()
        let kept = try await loop.run { core in
            let end = MemoryEnd(link, .near, loop: loop, core: core)
            let watcher = Watcher()
            watcher.end = end
            try end.watch(for: .writable, handler: watcher)
            return LoopBound(watcher, on: loop.thread)
        }
        await loop.advance(by: .zero)
        #expect(try await loop.run { _ in kept.value.told } == [.writable, .writable, .writable])
        // Always told: that the peer is gone.
        link.reset()
        let stopped = loop
        await stopped.stop()
        #expect(try await loop.run { _ in kept.value.told.dropFirst(3).allSatisfy { $0 == .failed } })
        #expect(try await loop.run { _ in kept.value.hasStopped })
        #expect(try await loop.run { _ in kept.value.end = nil } == ())
    }

    @Test("A stopped loop watches nothing more")
    func stopped() async throws {
        let loop = try EventLoop()
        await loop.stop()
        let code = try await loop.run { core -> SocketError.Code? in
            let end = MemoryEnd(MemoryLink(), .near, loop: loop, core: core)
            do throws(SocketError) {
                try end.watch(for: .readable, handler: Watcher())
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code == .loopStopped)
    }
}
