// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Values by the patterns that they stand for, found by a name: a tree of segments.
///
/// Looking a name up takes steps in proportion to its segments and the patterns that share them, however many others there
/// are. A name whose first segment begins with `$` isn't found by a pattern that begins with a wildcard (MQTT 5.0 section
/// 4.7.2).
struct TopicPatterns<Value: Sendable>: Sendable {
    private struct Node: Sendable {
        var children: [Substring: Node] = [:]
        /// Behind `+`.
        var any: [Node] = []
        /// Of the pattern that ends here.
        var value: Value?
        /// Of the pattern that ends here with `#`.
        var rest: Value?

        var isEmpty: Bool { children.isEmpty && any.isEmpty && value == nil && rest == nil }
    }

    private var root = Node()
    /// How many patterns there are.
    private(set) var count = 0

    init() {}

    /// The value of a pattern.
    ///
    /// - Parameter pattern: a pattern, or a name, that ``TopicName/check(_:)`` has let through.
    subscript(pattern: String) -> Value? {
        get { Self.find(TopicName.segments(pattern)[...], in: root) }
        set {
            let before = self[pattern] != nil
            Self.set(newValue, TopicName.segments(pattern)[...], in: &root)
            count += (newValue != nil ? 1 : 0) - (before ? 1 : 0)
        }
    }

    /// The values of all patterns that a name matches.
    func values(matching name: String) -> [Value] {
        guard count > 0 else { return [] }
        var found: [Value] = []
        let isHidden = name.utf8.first == UInt8(ascii: "$")
        Self.collect(TopicName.segments(name)[...], in: root, skippingWildcards: isHidden, into: &found)
        return found
    }

    private static func find(_ segments: ArraySlice<Substring>, in node: Node) -> Value? {
        guard let first = segments.first else { return node.value }
        switch first {
        case "#": return node.rest
        case "+": return node.any.first.flatMap { find(segments.dropFirst(), in: $0) }
        default: return node.children[first].flatMap { find(segments.dropFirst(), in: $0) }
        }
    }

    private static func set(_ value: Value?, _ segments: ArraySlice<Substring>, in node: inout Node) {
        guard let first = segments.first else {
            node.value = value
            return
        }
        let rest = segments.dropFirst()
        switch first {
        case "#": node.rest = value
        case "+":
            var child = node.any.popLast() ?? Node()
            set(value, rest, in: &child)
            node.any = child.isEmpty ? [] : [child]
        default:
            // Of its own memory: the name that it came from may be a long one.
            set(value, rest, in: &node.children[Substring(String(first)), default: Node()])
            if node.children[first]?.isEmpty == true { node.children[first] = nil }
        }
    }

    private static func collect(
        _ segments: ArraySlice<Substring>,
        in node: Node,
        skippingWildcards isHidden: Bool,
        into found: inout [Value]
    ) {
        if !isHidden, let rest = node.rest { found.append(rest) }
        guard let first = segments.first else {
            if let value = node.value { found.append(value) }
            return
        }
        let behind = segments.dropFirst()
        if let child = node.children[first] {
            collect(behind, in: child, skippingWildcards: false, into: &found)
        }
        if !isHidden, let any = node.any.first {
            collect(behind, in: any, skippingWildcards: false, into: &found)
        }
    }
}
