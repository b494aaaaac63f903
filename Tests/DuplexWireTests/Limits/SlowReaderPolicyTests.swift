// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@Suite("Policies for readers that are behind")
struct SlowReaderPolicyTests {
    @Test("Only the policy that conflates has keys, and only one has the sender wait")
    func keys() {
        let latest = SlowReaderPolicy<String>.latest(by: { $0.isEmpty ? nil : String($0.prefix(1)) })
        #expect(latest.key(of: "abc") == "a" && latest.key(of: "") == nil && !latest.isWaiting)
        for policy in [SlowReaderPolicy<String>.dropOldest(keeping: 1), .end()] {
            #expect(policy.key(of: "abc") == nil && !policy.isWaiting)
        }
        #expect(SlowReaderPolicy<String>.wait.isWaiting)
    }

    @Test("A key may be a property")
    func property() throws {
        let policy = SlowReaderPolicy<ServerSentEvent>.latest(by: \.event)
        #expect(policy.key(of: try ServerSentEvent("x", event: "price")) == "price")
    }

    @Test("Policies that say the same are the same; of closures nobody can tell")
    func same() {
        typealias Policy = SlowReaderPolicy<Int>
        let policies: [Policy] = [
            .wait, .end(), .end(after: 7), .end(patience: .seconds(1)), .dropOldest(keeping: 3),
            .dropOldest(keeping: 4),
            .dropNewest(keeping: 3), .dropOldest(keeping: 3, size: 9),
        ]
        for (index, policy) in policies.enumerated() {
            #expect(policies.indices.filter { policies[$0].isSame(as: policy) } == [index])
        }
        let latest = Policy.latest(by: { "\($0)" })
        #expect(!latest.isSame(as: latest))
        #expect(policies.map(\.patience) == [nil, nil, nil, .seconds(1), nil, nil, nil, nil])
    }
}

@Suite("What waits for a reader that is behind")
struct SlowReaderQueueTests {
    private static let begin = Instant(nanoseconds: 0)

    private static func all<Element>(_ queue: SlowReaderQueue<Element>) -> [Element] {
        var queue = queue
        var elements: [Element] = []
        while let element = queue.popFirst() { elements.append(element) }
        #expect(queue.isEmpty && queue.count == 0 && queue.byteCount == 0)
        return elements
    }

    @Test("Where the sender waits, nothing is taken")
    func waits() {
        var queue = SlowReaderQueue<Int>(SlowReaderPolicy<Int>.wait)
        #expect(queue.append(1, size: 1, at: Self.begin) == .senderWaits && queue.isEmpty && queue.dropped == 0)
    }

    @Test("The oldest are dropped beyond the count and beyond the bytes, and counted")
    func dropsOldest() {
        var queue = SlowReaderQueue<Int>(SlowReaderPolicy<Int>.dropOldest(keeping: 3, size: 10))
        for number in 1...5 { #expect(queue.append(number, size: 2, at: Self.begin) == .kept) }
        #expect(Self.all(queue) == [3, 4, 5] && queue.dropped == 2 && queue.byteCount == 6)
        _ = queue.append(6, size: 7, at: Self.begin)
        #expect(Self.all(queue) == [5, 6] && queue.dropped == 4 && queue.byteCount == 9)
        // One alone may be longer.
        _ = queue.append(7, size: 11, at: Self.begin)
        #expect(Self.all(queue) == [7] && queue.dropped == 6 && queue.byteCount == 11)
    }

    @Test("Of each key the newest waits, in the order of their last change")
    func conflates() {
        var queue = SlowReaderQueue<String>(SlowReaderPolicy<String>.latest(by: { $0 }, keeping: 3))
        for (key, value) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("c", "c1"), ("b", "b2")] {
            #expect(queue.append(value, size: 2, key: key, at: Self.begin) == .kept)
        }
        #expect(Self.all(queue) == ["a2", "c1", "b2"] && queue.dropped == 2 && queue.byteCount == 6)
        _ = queue.append("x", size: 1, key: nil, at: Self.begin)
        #expect(Self.all(queue) == ["c1", "b2", "x"] && queue.dropped == 3)
        // What was taken out isn't replaced.
        #expect(queue.popFirst() == "c1")
        _ = queue.append("c2", size: 2, key: "c", at: Self.begin)
        #expect(Self.all(queue) == ["b2", "x", "c2"] && queue.dropped == 3)
    }

    @Test("The reader ends once too many bytes wait; one element always may")
    func endsByBytes() {
        var queue = SlowReaderQueue<Int>(SlowReaderPolicy<Int>.end(after: 10))
        #expect(queue.append(1, size: 20, at: Self.begin) == .kept)
        #expect(queue.append(2, size: 1, at: Self.begin) == .readerEnds)
        #expect(queue.popFirst() == 1)
        for number in 1...5 { #expect(queue.append(number, size: 2, at: Self.begin) == .kept) }
        #expect(queue.append(6, size: 1, at: Self.begin) == .readerEnds)
        #expect(Self.all(queue) == [1, 2, 3, 4, 5] && queue.dropped == 0 && queue.deadline == nil)
    }

    @Test("The reader ends once something has waited for too long; one that catches up begins anew")
    func endsByTime() {
        var queue = SlowReaderQueue<Int>(SlowReaderPolicy<Int>.end(patience: .seconds(5)))
        #expect(queue.deadline == nil)
        _ = queue.append(1, size: 1, at: Self.begin)
        _ = queue.append(2, size: 1, at: Self.begin.advanced(by: .seconds(3)))
        #expect(queue.deadline == Self.begin.advanced(by: .seconds(5)))
        #expect(queue.popFirst() == 1 && queue.deadline == Self.begin.advanced(by: .seconds(5)))
        #expect(queue.popFirst() == 2 && queue.deadline == nil)
        _ = queue.append(3, size: 1, at: Self.begin.advanced(by: .seconds(9)))
        #expect(queue.deadline == Self.begin.advanced(by: .seconds(14)))
    }

    @Test("It does what a plain list would do, whatever comes", arguments: [1, 2, 5, 40])
    func asAList(keeping limit: Int) {
        var queue = SlowReaderQueue<Int>(SlowReaderPolicy<Int>.latest(by: { "\($0)" }, keeping: limit, size: 300))
        var list: [(key: String?, value: Int, size: Int)] = []
        var dropped = 0
        var random = SeededGenerator(seed: 7)
        for value in 0..<5_000 {
            if Int.random(in: 0..<5, using: &random) == 0 {
                #expect(queue.popFirst() == (list.isEmpty ? nil : list.removeFirst().value))
                continue
            }
            let key = Bool.random(using: &random) ? "\(Int.random(in: 0..<20, using: &random))" : nil
            let size = Int.random(in: 1...30, using: &random)
            if let key, let index = list.firstIndex(where: { $0.key == key }) {
                list.remove(at: index)
                dropped += 1
            }
            while !list.isEmpty, list.count >= limit || list.reduce(size, { $0 + $1.size }) > 300 {
                list.removeFirst()
                dropped += 1
            }
            list.append((key, value, size))
            _ = queue.append(value, size: size, key: key, at: Self.begin)
            #expect(queue.count == list.count && queue.dropped == dropped)
            #expect(queue.byteCount == list.reduce(0) { $0 + $1.size })
        }
        #expect(Self.all(queue) == list.map(\.value))
    }
}
