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
