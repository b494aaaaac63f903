// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

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
