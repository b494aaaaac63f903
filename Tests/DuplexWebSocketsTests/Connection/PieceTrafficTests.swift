// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite struct PieceTrafficTests {
    @Test("What is held is counted, and nobody is found under another's identity")
    func holding() {
        let streams = PieceTraffic()
        streams.hold(.binary, [1, 2], compress: nil)
        streams.hold(.text, [0x61], compress: true)
        #expect(streams.heldBytes == 3 && streams.lastTicket == 2 && streams.held.count == 2)
        #expect(streams.removeWriter(1) == nil && streams.removeSender(1) == nil)
        #expect(streams.dropHeld().isEmpty)
        #expect(streams.heldBytes == 0 && streams.held.isEmpty)
    }
}

@Suite struct FragmentInboxTests {
    @Test("Small pieces of a message are put together, and those of two messages aren't")
    func merging() {
        var inbox = FragmentInbox()
        for number in 0..<100 { inbox.append(.binary, [UInt8(number)], isLast: number == 99) }
        inbox.append(.text, Array("next".utf8), isLast: true)
        #expect(inbox.items.count == 2)
        #expect(inbox.byteCount == 104 && inbox.messageCount == 2)
        let kind = inbox.beginMessage()
        let item = inbox.takeItem()
        let behind = inbox.takeItem()
        #expect(kind == .binary && item?.bytes == (0..<100).map { UInt8($0) } && item?.isLast == true)
        #expect(behind == nil && inbox.byteCount == 4 && inbox.messageCount == 1)
    }

    @Test("What is put together has at most 64 KiB")
    func largest() {
        var inbox = FragmentInbox()
        for _ in 0..<3 { inbox.append(.binary, [UInt8](repeating: 1, count: 40_000), isLast: false) }
        for _ in 0..<2 { inbox.append(.binary, [UInt8](repeating: 1, count: 20_000), isLast: false) }
        #expect(inbox.items.map(\.bytes.count) == [40_000, 40_000, 60_000, 20_000])
    }

    @Test("Texts are cut between scalars, wherever their bytes were cut")
    func texts() {
        let text = "aä€𐍈z𐍈€ä"
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var inbox = FragmentInbox()
            inbox.append(.text, Array(bytes.prefix(cut)), isLast: false)
            var read = ""
            _ = inbox.beginMessage()
            while let item = inbox.takeItem() { read += String(validating: item.bytes, as: UTF8.self) ?? "wrong" }
            inbox.append(.text, Array(bytes.dropFirst(cut)), isLast: true)
            _ = inbox.beginMessage()
            while let item = inbox.takeItem() { read += String(validating: item.bytes, as: UTF8.self) ?? "wrong" }
            #expect(read == text, "cut at \(cut)")
        }
        var binary = FragmentInbox()
        binary.append(.binary, [0xE2, 0x82], isLast: false)
        #expect(binary.byteCount == 2)
    }

    @Test("A message that is skipped is thrown away up to its end, whenever that comes")
    func skipping() {
        var inbox = FragmentInbox()
        inbox.append(.binary, [1], isLast: false)
        let first = inbox.beginMessage()
        inbox.skip()
        let second = inbox.beginMessage()
        #expect(first == .binary && second == nil && inbox.isReading && inbox.isEmpty)
        inbox.append(.binary, [2], isLast: true)
        inbox.append(.text, [0x33], isLast: true)
        inbox.skip()
        let third = inbox.beginMessage()
        #expect(third == .text)
    }

    @Test("Messages are put together up to a limit, and what was put together can still be read in pieces")
    func gathering() {
        var inbox = FragmentInbox()
        inbox.append(.text, Array("ab".utf8), isLast: false)
        let early = inbox.gather(limit: 4)
        inbox.append(.text, Array("cd".utf8), isLast: true)
        let whole = inbox.gather(limit: 4)
        #expect(early == .unfinished && whole == .whole("abcd") && inbox.byteCount == 0 && inbox.messageCount == 0)
        inbox.append(.binary, [1, 2, 3], isLast: false)
        inbox.append(.binary, [4, 5], isLast: false)
        let large = inbox.gather(limit: 4)
        let kind = inbox.beginMessage()
        let item = inbox.takeItem()
        #expect(large == .tooLarge && kind == .binary && item?.bytes == [1, 2, 3, 4, 5])
    }

    @Test("Behind what was thrown away nothing is kept")
    func cut() {
        var inbox = FragmentInbox()
        inbox.append(.binary, [1], isLast: false)
        inbox.cut()
        inbox.append(.binary, [2], isLast: true)
        #expect(inbox.byteCount == 1 && inbox.messageCount == 0)
    }
}
