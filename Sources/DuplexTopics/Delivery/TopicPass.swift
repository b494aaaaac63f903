// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// A batch on its way to the subscribers of one loop, as far as it has come.
struct TopicPass {
    /// The outcomes since they were last taken.
    private(set) var counts = TopicCounts()
    private let batch: TopicBatch
    /// What was lost and hasn't been reported to its members yet.
    private var losses: [(audience: UInt64, loss: TopicBatch.Loss)]
    /// The first item of the next run.
    private var next = 0
    /// What is reported to the members, or given to them; one of these, until all have it.
    private var loss: TopicBatch.Loss?
    private var run: TopicRun
    /// Those that were there when that began, whoever comes or goes meanwhile.
    private var members: [TopicMember] = []
    private var position = 0
    private var unsent = 0

    /// How many connections are given something before it is sent: what was written for all of them would be memory for each, and
    /// out of the processor's cache by the end of the turn.
    private static let unsentBound = 64

    init(_ batch: TopicBatch) {
        self.batch = batch
        run = Self.nothing(of: batch)
        losses = batch.lost.map { ($0.key, $0.value) }
    }

    /// Takes the outcomes so far.
    mutating func takeCounts() -> TopicCounts {
        defer { counts = TopicCounts() }
        return counts
    }

    /// Goes on for a share of the turn.
    ///
    /// - Parameters:
    ///   - core: the loop's.
    ///   - list: the members of an audience.
    /// - Returns: whether it has come to its end.
    mutating func goOn(on core: LoopCore, _ list: (UInt64) -> TopicMembers?) -> Bool {
        var share = TurnShare()
        while true {
            while position < members.count {
                let member = members[position]
                position += 1
                give(to: member, core)
                if share.isOver(core) { return false }
            }
            endPart()
            guard let members = beginPart(list) else { return true }
            guard let only = members.only else { continue }
            // Most topics have one, who needs no array.
            give(to: only, core)
            if share.isOver(core) { return false }
        }
    }

    /// Begins with what comes next: what was lost for one audience, and then the runs.
    ///
    /// - Returns: its members; `nil` at the end.
    private mutating func beginPart(_ list: (UInt64) -> TopicMembers?) -> TopicMembers? {
        while let (audience, lost) = losses.popLast() {
            guard let members = list(audience) else { continue }
            loss = lost
            self.members = members.several
            return members
        }
        while next < batch.items.count {
            let range = batch.run(from: next)
            next = range.upperBound
            guard let members = list(batch.items[range.lowerBound].audience) else { continue }
            // One message goes to each from where it lies; of several, each connection sends its own at once.
            run = TopicRun(batch, range, gathers: batch.items.count > 1)
            self.members = members.several
            return members
        }
        return nil
    }

    private mutating func endPart() {
        counts += run.counts
        run = Self.nothing(of: batch)
        loss = nil
        members = []
        position = 0
    }

    private static func nothing(of batch: TopicBatch) -> TopicRun { TopicRun(batch, 0..<0, gathers: false) }

    private mutating func give(to member: TopicMember, _ core: LoopCore) {
        if let loss {
            // It may have left since this began, which may take several turns.
            guard member.list != nil else { return }
            // Who came later, or took from the history what was lost, lacks nothing.
            let count = member.barrier < batch.first ? loss.count(behind: member.barrier) : 0
            if count > 0 { member.overrun(count, &counts) }
            return
        }
        member.deliver(&run)
        unsent += 1
        guard run.gathers, unsent >= Self.unsentBound else { return }
        core.sendGathered()
        unsent = 0
    }
}
