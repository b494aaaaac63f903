// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A node of a cluster, by where it listens.
struct RedisNode: Sendable, Hashable {
    var host: String
    var port: Int
}

/// Which node of a cluster has which slot.
struct RedisTopology: Sendable, Equatable {
    /// The masters.
    private(set) var nodes: [RedisNode] = []
    /// The place of each slot's master in ``nodes``; -1 where nobody has it.
    private var owners = [Int16](repeating: -1, count: RedisSlot.count)

    /// Knows nothing yet.
    init() {}

    /// Reads the answer of CLUSTER SLOTS; `nil` when it makes no sense.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - asked: the host that has answered, which doesn't know its own name everywhere.
    init?(_ answer: RedisValue, from asked: String) {
        guard let ranges = answer.elements else { return nil }
        for range in ranges {
            guard let parts = range.elements, parts.count >= 3, let first = parts[0].integer,
                let last = parts[1].integer,
                0 <= first, first <= last, last < RedisSlot.count, let node = Self.node(parts[2], from: asked)
            else { return nil }
            for slot in Int(first)...Int(last) { assign(slot, to: node) }
        }
    }

    private static func node(_ value: RedisValue, from asked: String) -> RedisNode? {
        guard let parts = value.elements, parts.count >= 2, let port = parts[1].integer, (1...65_535).contains(port)
        else {
            return nil
        }
        let host = parts[0].text ?? ""
        return RedisNode(host: host.isEmpty || host == "?" ? asked : host, port: Int(port))
    }

    /// The master of a slot; `nil` where nobody has it.
    func owner(of slot: Int) -> RedisNode? {
        owners[slot] < 0 ? nil : nodes[Int(owners[slot])]
    }

    /// A slot has gone to that node.
    mutating func assign(_ slot: Int, to node: RedisNode) {
        if let index = nodes.lastIndex(of: node) {
            owners[slot] = Int16(index)
        } else if nodes.count < Int(Int16.max) {
            nodes.append(node)
            owners[slot] = Int16(nodes.count - 1)
        }
    }

    /// Whether somebody has every slot.
    var isComplete: Bool { !owners.contains { $0 < 0 } }
}
