// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@Suite struct ReconnectOutboxTests {
    /// `ack 7` acknowledges the message `7`.
    private static let acknowledged = ReconnectDelivery.atLeastOnce { sent, by in
        guard case .text(let sent) = sent, case .text(let by) = by else { return false }
        return by == "ack \(sent)"
    }

    private func outbox(_ delivery: ReconnectDelivery, messages: Int = 100) -> ReconnectOutbox {
        ReconnectOutbox(delivery, messageLimit: messages, byteLimit: .kibibytes(1))
    }

    /// Writes so many messages, by default all that wait.
    private func write(_ outbox: inout ReconnectOutbox, _ count: Int = .max) -> [Message] {
        var written: [Message] = []
        while written.count < count, let next = outbox.next {
            written.append(next.message)
            outbox.wrote()
        }
        return written
    }

    @Test("At most once: what was written is gone, and what wasn't comes next")
    func atMostOnce() {
        var outbox = outbox(.atMostOnce)
        for text in ["1", "2", "3"] { outbox.append(.text(text)) }
        #expect(write(&outbox, 2) == ["1", "2"])
        outbox.connectionEnded()
        #expect(outbox.undelivered == ["3"] && outbox.byteCount == 1)
        #expect(outbox.received("ack 3") == 0)
        #expect(write(&outbox) == ["3"] && outbox.count == 0 && outbox.byteCount == 0)
    }

    @Test("Only what nothing waits before, and nobody acknowledges, can go past it")
    func passingOn() {
        var outbox = outbox(.atMostOnce)
        #expect(outbox.passesOn)
        outbox.append("1")
        #expect(!outbox.passesOn)
        #expect(write(&outbox) == ["1"] && outbox.passesOn)
        #expect(!self.outbox(Self.acknowledged).passesOn)
    }

    @Test("At least once: what isn't acknowledged comes again, in order and before what is new")
    func atLeastOnce() {
        var outbox = outbox(Self.acknowledged)
        for text in ["1", "2", "3", "4"] { outbox.append(.text(text)) }
        #expect(write(&outbox, 3) == ["1", "2", "3"])
        #expect(outbox.received("ack 2") == 1 && outbox.received("ack 9") == 0)
        outbox.connectionEnded()
        outbox.append("5")
        #expect(write(&outbox, 1) == ["1"])
        // Late, from the connection before: it needn't be written again.
        #expect(outbox.received("ack 3") == 1)
        #expect(write(&outbox) == ["4", "5"])
        for text in ["1", "4", "5"] { #expect(outbox.received(.text("ack \(text)")) == 1) }
        #expect(outbox.count == 0 && outbox.byteCount == 0 && outbox.next == nil)
    }

    @Test("Whether a message is to be compressed stays with it, however often it is written")
    func compressing() {
        var outbox = outbox(Self.acknowledged)
        outbox.append("1", compress: true)
        outbox.append("2")
        outbox.append("3", compress: false)
        for _ in 0..<2 {
            var choices: [Bool?] = []
            while let next = outbox.next {
                choices.append(next.compress)
                outbox.wrote()
            }
            #expect(choices == [true, nil, false])
            outbox.connectionEnded()
        }
        #expect(outbox.undelivered == ["1", "2", "3"])
    }

    @Test("It is bounded in messages and in bytes, and one message always fits")
    func bounds() {
        var outbox = outbox(.atMostOnce, messages: 2)
        let large = Message.binary([UInt8](repeating: 0, count: 2_000))
        #expect(outbox.hasRoom(for: large))
        outbox.append("1")
        #expect(!outbox.hasRoom(for: large) && outbox.hasRoom(for: "2"))
        outbox.append("2")
        #expect(!outbox.hasRoom(for: "3"))
        _ = write(&outbox, 1)
        #expect(outbox.hasRoom(for: "3") && !outbox.hasRoom(for: .binary([UInt8](repeating: 0, count: 1_024))))
    }

    @Test("Whatever happens, nothing is lost or doubled against what is promised", arguments: [true, false])
    func promises(isAcknowledged: Bool) {
        for seed: UInt64 in 0..<200 {
            var random = SeededGenerator(seed: seed)
            var outbox = outbox(isAcknowledged ? Self.acknowledged : .atMostOnce)
            var written: [Message] = []
            var added = 0
            var acknowledged: Set<Int> = []
            for _ in 0..<400 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    added += 1
                    outbox.append(.text("\(added)"))
                case 4..<8: written += write(&outbox, Int.random(in: 1...3, using: &random))
                case 8: outbox.connectionEnded()
                default:
                    let number = Int.random(in: 0...added, using: &random)
                    if outbox.received(.text("ack \(number)")) > 0 { acknowledged.insert(number) }
                }
            }
            outbox.connectionEnded()
            let rest = write(&outbox)
            let all = (written + rest).map(\.description)
            if isAcknowledged {
                let expected = (1...max(1, added)).filter { !acknowledged.contains($0) && $0 <= added }
                #expect(rest == expected.map { .text("\($0)") }, "seed \(seed)")
            } else {
                #expect(Set(all).count == all.count && all.count == added, "seed \(seed)")
            }
        }
    }
}
