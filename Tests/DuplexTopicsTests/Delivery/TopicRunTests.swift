// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Part of a batch, all of one topic")
struct TopicRunTests {
    private static let batch: TopicBatch = {
        var batch = TopicBatch()
        batch.first = 7
        for number in 0..<4 {
            let entry = TopicEntry("a", nil, .message(.text("\(number)")), number: UInt64(number + 1))
            batch.items.append(.init(audience: 1, entry: entry))
        }
        return batch
    }()

    @Test("Each message has its forms, made once")
    func forms() {
        let forms = TopicForms(100_000)
        var run = TopicRun(Self.batch, 1..<3, gathers: true)
        var sizes: [Int] = []
        for _ in 0..<2 {
            for index in run.range {
                let frame = run.frame(index, isEnveloped: false, forms)
                let envelope = run.frame(index, isEnveloped: true, forms)
                let event = run.event(index, forms)
                #expect(run.entry(index).message == frame.message && frame.message == .text("\(index)"))
                #expect(envelope.message == .text(#"{"topic":"a","text":"\#(index)"}"#))
                #expect(event?.event.data == "\(index)")
            }
            sizes.append(forms.size)
        }
        #expect(sizes[0] == sizes[1] && sizes[0] > 0)
    }

    @Test("What came before a subscription isn't for it")
    func barrier() {
        let (run, member) = (TopicRun(Self.batch, 0..<4, gathers: false), TopicMember())
        member.barrier = 9
        #expect(run.range.map { run.isFor(member, $0) } == [false, false, true, true])
    }
}
