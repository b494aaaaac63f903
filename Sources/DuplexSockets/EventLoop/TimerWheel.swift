// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Something that a timer wakes.
package protocol TimerTarget: AnyObject {
    /// Called on the loop once the timer's instant has come; the timer is gone by then.
    ///
    /// A timer that was cancelled in the very turn in which it came due is still handed out: compare `timer` with the
    /// one that is waited for.
    ///
    /// - Parameters:
    ///   - timer: the timer, as `schedule` named it.
    ///   - now: the loop's time.
    func timerFired(_ timer: TimerID, now: Instant)
}

/// Names a scheduled timer; stays unique when the wheel uses its place again.
package struct TimerID: Sendable, Hashable {
    fileprivate var index: Int32
    fileprivate var generation: UInt32

    /// No timer's; only to fill a place.
    package static var none: TimerID { TimerID(index: -1, generation: 0) }
}

/// A timer whose instant has come.
package struct DueTimer {
    package var target: any TimerTarget
    package var id: TimerID
}

/// The timers of one loop: scheduling, cancelling and firing each cost the same however many there are.
///
/// A hierarchical wheel (Varghese and Lauck): four levels of 64 slots. A slot of the lowest level spans one tick of
/// 2^22 ns (4.2 ms), a slot of each further level 64 times as much; the four reach 19 hours, and a timer further away
/// waits in the last level and is placed anew when it comes round. A target is not kept alive, unless whoever schedules
/// says so: what is gone needs no waking. A timer fires on the first turn after its tick has passed, never early and at
/// most one tick late. The wheel reads no clock.
package struct TimerWheel {
    private static let tickShift: Int64 = 22
    private static let slotBits: Int64 = 6
    private static let slotCount = 64
    private static let levels = 4
    private static let none: Int32 = -1

    private struct Entry {
        var target: Target
        var deadline: Int64
        var next: Int32
        var previous: Int32
        var slot: Int32
        var generation: UInt32
    }

    /// The target of a timer and who keeps it alive; no larger than a reference to the target.
    private enum Target {
        case none
        /// The wheel does.
        case kept(any TimerTarget)
        /// Somebody else does.
        case weak(WeakTarget)

        var target: (any TimerTarget)? {
            switch self {
            case .kept(let target): target
            case .weak(let box): box.target
            case .none: nil
            }
        }
    }

    private final class WeakTarget {
        private(set) weak var target: (any TimerTarget)?

        init(_ target: any TimerTarget) {
            self.target = target
        }
    }

    private var entries: [Entry] = []
    private var firstFree = none
    /// The first entry of each slot, level by level.
    private var heads = [Int32](repeating: none, count: levels * slotCount)
    /// One bit for each slot that isn't empty, a word for each level.
    private var occupied = [UInt64](repeating: 0, count: levels)
    /// The tick that the wheel has come to: everything due before it has fired.
    private var tick: Int64

    /// The number of timers that wait.
    package private(set) var count = 0

    package init(now: Instant) {
        tick = now.nanoseconds >> Self.tickShift
    }

    /// Makes a timer that fires once `deadline` has passed.
    ///
    /// - Parameters:
    ///   - target: what is called.
    ///   - deadline: when it is due.
    ///   - keepsTarget: whether the target is kept alive until then, or until the timer is cancelled: for one that cancels its
    ///     timers when it ends. A weak reference would make each retain and each release of it cost some sixty instructions
    ///     more from then on. Default: it isn't kept.
    /// - Returns: what it is cancelled with.
    package mutating func schedule(
        _ target: any TimerTarget,
        at deadline: Instant,
        keepsTarget: Bool = false
    ) -> TimerID {
        let index = takeEntry()
        entries[Int(index)].target = keepsTarget ? .kept(target) : .weak(WeakTarget(target))
        entries[Int(index)].deadline = deadline.nanoseconds
        place(index)
        count += 1
        return TimerID(index: index, generation: entries[Int(index)].generation)
    }

    /// Takes a timer back; one that has fired or was cancelled before is left alone.
    package mutating func cancel(_ timer: TimerID) {
        let index = Int(timer.index)
        guard entries[index].generation == timer.generation, entries[index].slot != Self.none else { return }
        unlink(timer.index)
        free(timer.index)
    }

    /// When a timer is due that waits; `nil` for others.
    package func deadline(of timer: TimerID) -> Instant? {
        guard timer != .none, entries[Int(timer.index)].generation == timer.generation else { return nil }
        return Instant(nanoseconds: entries[Int(timer.index)].deadline)
    }

    /// When the wheel must be advanced next; `nil` while it is empty.
    ///
    /// May be earlier than the earliest timer.
    package var nextInstant: Instant? {
        guard count > 0 else { return nil }
        var earliest = Int64.max
        for level in 0..<Self.levels where occupied[level] != 0 {
            let shift = Self.slotBits * Int64(level)
            let position = tick >> shift
            let rotation = Int(position & 63)
            // The slot at the position itself was emptied when the wheel came to it, except in the lowest level.
            let word = occupied[level]
            let rotated = rotation == 0 ? word : (word >> UInt64(rotation)) | (word << UInt64(64 - rotation))
            var distance = Int64(rotated.trailingZeroBitCount)
            if level > 0 && distance == 0 { distance = 64 }
            earliest = min(earliest, (position + distance) << shift)
        }
        // A slot of the lowest level is due when its tick has passed.
        return Instant(nanoseconds: (max(earliest, tick) + 1) << Self.tickShift)
    }

    /// Moves the wheel to `now` and appends the timers that are due to `due`, in the order of their ticks.
    package mutating func advance(to now: Instant, into due: inout [DueTimer]) {
        let target = now.nanoseconds >> Self.tickShift
        while tick < target {
            guard count > 0 else {
                tick = target
                return
            }
            takeDue(Int(tick & 63), into: &due)
            tick += 1
            cascade()
            skipEmptyTicks(to: target)
        }
    }

    /// The earliest deadline of all timers; `nil` while there is none.
    ///
    /// Looks at each: for a time that is moved by hand.
    package var earliestDeadline: Instant? {
        entries.lazy.filter { $0.slot != Self.none }.map(\.deadline).min().map { Instant(nanoseconds: $0) }
    }

    /// Appends the timers of the present tick that are due at `now` to the nanosecond: for a time that is moved by hand, which
    /// doesn't wait for the end of a tick.
    package mutating func takeDue(at now: Instant, into due: inout [DueTimer]) {
        let first = due.count
        var index = heads[Int(tick & 63)]
        while index != Self.none {
            let next = entries[Int(index)].next
            if entries[Int(index)].deadline <= now.nanoseconds { take(index, into: &due) }
            index = next
        }
        // A slot has its latest timer first.
        due[first...].reverse()
    }

    /// Goes over ticks in which nothing can happen, up to the next boundary of the second level.
    private mutating func skipEmptyTicks(to target: Int64) {
        guard occupied[0] == 0, tick < target else { return }
        tick = min(((tick >> Self.slotBits) + 1) << Self.slotBits, target)
        cascade()
    }

    /// Brings the timers of higher levels down whose slot the wheel has come to.
    private mutating func cascade() {
        var level = 1
        while level < Self.levels {
            let shift = Self.slotBits * Int64(level)
            guard tick & ((1 << shift) - 1) == 0 else { return }
            let slot = level * Self.slotCount + Int((tick >> shift) & 63)
            var index = takeList(slot)
            while index != Self.none {
                let next = entries[Int(index)].next
                place(index)
                index = next
            }
            level += 1
        }
    }

    private mutating func takeDue(_ slot: Int, into due: inout [DueTimer]) {
        while heads[slot] != Self.none {
            take(heads[slot], into: &due)
        }
    }

    private mutating func take(_ index: Int32, into due: inout [DueTimer]) {
        unlink(index)
        if let target = entries[Int(index)].target.target {
            due.append(
                DueTimer(target: target, id: TimerID(index: index, generation: entries[Int(index)].generation))
            )
        }
        free(index)
    }

    /// Links an entry into the slot for its deadline, seen from the wheel's tick.
    private mutating func place(_ index: Int32) {
        let due = max(entries[Int(index)].deadline >> Self.tickShift, tick)
        var level = 0
        while level < Self.levels - 1 && (due - tick) >> (Self.slotBits * Int64(level + 1)) != 0 { level += 1 }
        let shift = Self.slotBits * Int64(level)
        // Further away than the wheel reaches: the last slot there is, to be placed anew from there.
        let position = min(due >> shift, (tick >> shift) + 63)
        link(index, into: level * Self.slotCount + Int(position & 63))
    }

    private mutating func link(_ index: Int32, into slot: Int) {
        let head = heads[slot]
        entries[Int(index)].next = head
        entries[Int(index)].previous = Self.none
        entries[Int(index)].slot = Int32(slot)
        if head != Self.none { entries[Int(head)].previous = index }
        heads[slot] = index
        occupied[slot / Self.slotCount] |= 1 << UInt64(slot % Self.slotCount)
    }

    private mutating func unlink(_ index: Int32) {
        let (next, previous) = (entries[Int(index)].next, entries[Int(index)].previous)
        if next != Self.none { entries[Int(next)].previous = previous }
        if previous != Self.none {
            entries[Int(previous)].next = next
            return
        }
        let slot = Int(entries[Int(index)].slot)
        heads[slot] = next
        if next == Self.none { occupied[slot / Self.slotCount] &= ~(1 << UInt64(slot % Self.slotCount)) }
    }

    private mutating func takeList(_ slot: Int) -> Int32 {
        let head = heads[slot]
        heads[slot] = Self.none
        occupied[slot / Self.slotCount] &= ~(1 << UInt64(slot % Self.slotCount))
        return head
    }

    private mutating func takeEntry() -> Int32 {
        if firstFree != Self.none {
            let index = firstFree
            firstFree = entries[Int(index)].next
            return index
        }
        entries.append(Entry(target: .none, deadline: 0, next: Self.none, previous: Self.none, slot: 0, generation: 0))
        return Int32(entries.count - 1)
    }

    private mutating func free(_ index: Int32) {
        entries[Int(index)].target = .none
        entries[Int(index)].slot = Self.none
        entries[Int(index)].generation &+= 1
        entries[Int(index)].next = firstFree
        firstFree = index
        count -= 1
    }
}
