// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets

/// Part of a batch, all of one topic, on its way to the subscribers of a loop.
///
/// What each of them needs is taken from the messages once for all.
struct TopicRun {
    /// Of the batch.
    let range: Range<Int>
    /// Whether what goes to a connection is sent with what follows.
    let gathers: Bool
    /// The outcomes of the messages.
    var counts = TopicCounts()
    private let batch: TopicBatch
    private var frames: [PreparedMessage] = []
    private var envelopes: [PreparedMessage] = []
    private var events: [TopicEntry.Event?] = []

    init(_ batch: TopicBatch, _ range: Range<Int>, gathers: Bool) {
        self.batch = batch
        self.range = range
        self.gathers = gathers
    }

    /// The message at an index of the batch.
    func entry(_ index: Int) -> TopicEntry { batch.items[index].entry }

    /// Whether it came behind the barrier of a subscriber.
    func isFor(_ member: TopicMember, _ index: Int) -> Bool { batch.first + UInt64(index) >= member.barrier }

    /// The frame of a message: plain, or in JSON.
    mutating func frame(_ index: Int, isEnveloped: Bool, _ forms: TopicForms) -> PreparedMessage {
        if isEnveloped {
            if envelopes.isEmpty { envelopes = range.map { entry($0).envelope(forms) } }
            return envelopes[index - range.lowerBound]
        }
        if frames.isEmpty { frames = range.map { entry($0).frame(forms) } }
        return frames[index - range.lowerBound]
    }

    /// A message as a server-sent event; `nil` where it can't be one.
    mutating func event(_ index: Int, _ forms: TopicForms) -> TopicEntry.Event? {
        if events.isEmpty { events = range.map { entry($0).event(forms) } }
        return events[index - range.lowerBound]
    }
}
