// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct OutputBufferTests {
    private func pattern(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += 0...250 }
        return Array(bytes.prefix(count))
    }

    /// Sends all that waits, and gives what the peer received.
    private func drain(_ buffer: OutputBuffer, _ pair: (near: Int32, far: Int32), total: Int) -> [UInt8] {
        var received: [UInt8] = []
        while received.count < total {
            if buffer.count > 0, case .failed = buffer.send(to: .descriptor(pair.near)) { break }
            guard let bytes = Descriptors.read(pair.far), !bytes.isEmpty else { break }
            received += bytes
        }
        return received
    }

    private func withPair(_ body: ((near: Int32, far: Int32)) throws -> Void) throws {
        let pair = try Descriptors.pair()
        defer {
            SystemCalls.close(pair.near)
            SystemCalls.close(pair.far)
        }
        // Small, so that a few megabytes are more than the socket takes.
        #expect(SystemCalls.setOption(pair.near, level: SOL_SOCKET, name: SO_SNDBUF, 1 << 16))
        try body(pair)
    }

    @Test("What is appended in pieces goes out whole and in order, also past the first block")
    func growing() throws {
        try withPair { pair in
            let bytes = pattern(3 * OutputPool.blockSize + 5)
            let buffer = OutputBuffer()
            for start in stride(from: 0, to: bytes.count, by: 1_000) {
                buffer.append(Array(bytes[start..<min(start + 1_000, bytes.count)]).span.raw)
            }
            #expect(buffer.count == bytes.count)
            #expect(drain(buffer, pair, total: bytes.count) == bytes)
            #expect(buffer.count == 0)
        }
    }

    @Test("Only what was written of the reserved room waits")
    func reserving() throws {
        try withPair { pair in
            let buffer = OutputBuffer()
            buffer.append(capacity: 100) { output in
                for byte in "abc".utf8 { output.append(byte) }
            }
            buffer.append(Array("def".utf8).span.raw)
            #expect(buffer.count == 6)
            #expect(drain(buffer, pair, total: 6) == Array("abcdef".utf8))
        }
    }

    @Test("A head of up to eight bytes stands before its bytes, also past the first block", arguments: 0...8)
    func head(size: Int) throws {
        try withPair { pair in
            let buffer = OutputBuffer()
            let bytes = pattern(OutputPool.blockSize - 4)
            let expected = (1...8).prefix(size).map(UInt8.init) + [9] + (1...8).prefix(size).map(UInt8.init) + bytes
            buffer.append(0x0807_0605_0403_0201, size, then: [9].span.raw)
            buffer.append(0x0807_0605_0403_0201, size, then: bytes.span.raw)
            #expect(buffer.count == expected.count)
            #expect(drain(buffer, pair, total: expected.count) == expected)
        }
    }

    @Test("A socket that takes a part leaves the rest waiting, and then says that it would block")
    func partial() throws {
        try withPair { pair in
            let bytes = pattern(2 << 20)
            let buffer = OutputBuffer()
            buffer.append(bytes.span.raw)
            var last = buffer.send(to: .descriptor(pair.near))
            while buffer.count > 0, case .transferred = last { last = buffer.send(to: .descriptor(pair.near)) }
            #expect((1..<bytes.count).contains(buffer.count))
            #expect(last == .wouldBlock)
            let isWhole = drain(buffer, pair, total: bytes.count) == bytes
            #expect(isWhole)
        }
    }

    @Test("Bytes sent behind what waits keep their place, whether the socket takes them or not")
    func sendingBehind() throws {
        try withPair { pair in
            let bytes = pattern(2 << 20)
            let tail = Array("the tail".utf8)
            let buffer = OutputBuffer()
            buffer.append(Array("head ".utf8).span.raw)
            #expect(buffer.send(to: .descriptor(pair.near), then: tail.span.raw) == .transferred(13))
            #expect(Descriptors.read(pair.far) == Array("head the tail".utf8))
            #expect(buffer.count == 0)
            _ = buffer.send(to: .descriptor(pair.near), then: bytes.span.raw)
            #expect(buffer.count > 0)
            _ = buffer.send(to: .descriptor(pair.near), then: tail.span.raw)
            let isWhole = drain(buffer, pair, total: bytes.count + tail.count) == bytes + tail
            #expect(isWhole)
        }
    }

    @Test("A send that fails reports the error, and what waits can be forgotten")
    func failing() {
        let buffer = OutputBuffer()
        buffer.append([1, 2, 3].span.raw)
        guard case .failed = buffer.send(to: .descriptor(-1)) else {
            Issue.record("Sending to no descriptor didn't fail.")
            return
        }
        #expect(buffer.count == 3)
        buffer.removeAll()
        #expect(buffer.count == 0)
    }

    #if DEBUG && os(Linux)
    @Test("Pieces behind what waits go in one call, which may be cut at any byte, refused or failed")
    func pieces() throws {
        try withPair { pair in
            let (waiting, pieces) = (pattern(7), [pattern(5), [9], pattern(40), [1, 2]])
            let whole = waiting + pieces.flatMap(\.self)
            let plan = FaultPlan()
            for cut in 1...whole.count {
                let buffer = OutputBuffer()
                buffer.append(waiting.span.raw)
                plan.arm([FaultPlan.Rule(.send, .isCut(to: cut))])
                let result = plan.run { buffer.send(to: .descriptor(pair.near), then: pieces) }
                #expect(result == .transferred(cut))
                #expect(buffer.count == whole.count - cut)
                #expect(plan.counts == [.send: 1])
                #expect(drain(buffer, pair, total: whole.count) == whole)
            }
            for (code, expected) in [(EAGAIN, TransferResult.wouldBlock), (EPIPE, .failed(EPIPE))] {
                let buffer = OutputBuffer()
                buffer.append(waiting.span.raw)
                plan.arm([FaultPlan.Rule(.send, .fails(code))])
                let result = plan.run { buffer.send(to: .descriptor(pair.near), then: pieces) }
                #expect(result == expected)
                #expect(buffer.count == (code == EAGAIN ? whole.count : waiting.count))
                if code == EAGAIN { #expect(drain(buffer, pair, total: whole.count) == whole) }
            }
        }
    }

    @Test("What goes into the second call is kept as well when that one is refused")
    func manyPieces() throws {
        try withPair { pair in
            let pieces = (0..<100).map { [UInt8($0), UInt8($0)] }
            let plan = FaultPlan()
            for fault in [FaultPlan.Fault.fails(EAGAIN), .isCut(to: 3)] {
                let buffer = OutputBuffer()
                plan.arm([FaultPlan.Rule(.send, fault, first: 2)])
                _ = plan.run { buffer.send(to: .descriptor(pair.near), then: pieces) }
                #expect(plan.counts == [.send: 2])
                #expect(buffer.count == 2 * 36 - (fault == .isCut(to: 3) ? 3 : 0))
                #expect(drain(buffer, pair, total: 200) == pieces.flatMap(\.self))
            }
        }
    }
    #endif
}

@Suite struct OutputSlotTests {
    @Test("A buffer lies in the slot until it is taken, and doesn't outlive a slot that it lies in")
    func moving() {
        weak var buffer: OutputBuffer?
        do {
            var slot = OutputSlot()
            #expect(slot.take() == nil)
            #expect(slot.count == 0)
            let made = OutputBuffer()
            made.append([1, 2, 3].span.raw)
            buffer = made
            slot.put(made)
            #expect(slot.count == 3)
            #expect(slot.take() === made)
            #expect(slot.take() == nil)
            slot.put(made)
        }
        #expect(buffer == nil)
    }
}

@Suite struct OutputPoolTests {
    @Test("A buffer that was given back is lent again")
    func again() {
        let pool = OutputPool()
        let buffer = pool.take()
        pool.give(buffer)
        #expect(pool.take() === buffer)
        #expect(pool.take() !== buffer)
    }

    @Test("Buffers that nobody has end with their pool")
    func ending() {
        weak var buffer: OutputBuffer?
        do {
            let pool = OutputPool()
            let taken = pool.take()
            buffer = taken
            pool.give(taken)
        }
        #expect(buffer == nil)
    }

    @Test("No more than 64 buffers are kept, which is 1 MiB")
    func bounded() {
        let pool = OutputPool()
        let buffers = (0..<65).map { _ in pool.take() }
        for buffer in buffers { pool.give(buffer) }
        let again = (0..<65).map { _ in pool.take() }
        #expect(Set(again.map(ObjectIdentifier.init)).intersection(buffers.map(ObjectIdentifier.init)).count == 64)
    }
}
