// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// What is due when, the earliest first.
struct DeadlineHeap<Element: Sendable>: Sendable {
    private var items: [(deadline: Instant, element: Element)] = []

    /// The earliest deadline.
    var first: Instant? { items.first?.deadline }

    var count: Int { items.count }

    mutating func insert(_ element: Element, at deadline: Instant) {
        items.append((deadline, element))
        var place = items.count - 1
        while place > 0, items[place].deadline < items[(place - 1) / 2].deadline {
            items.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Takes out the earliest one if it is due.
    mutating func popFirst(dueAt now: Instant) -> Element? {
        guard let first = items.first, first.deadline <= now else { return nil }
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var place = 0
        while let child = earlierChild(of: place), items[child].deadline < items[place].deadline {
            items.swapAt(place, child)
            place = child
        }
        return first.element
    }

    private func earlierChild(of place: Int) -> Int? {
        let left = 2 * place + 1
        guard left < items.count else { return nil }
        let right = left + 1
        return right < items.count && items[right].deadline < items[left].deadline ? right : left
    }
}
