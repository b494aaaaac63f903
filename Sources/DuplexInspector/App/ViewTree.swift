// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A tree of views, taken apart: bounded, each with an identity of its own, parents in front of their children.
struct ViewTree: Sendable {
    /// What is taken of a tree.
    struct Limits: Sendable {
        var nodes = 10_000
        var depth = 200
        /// The bytes of all texts.
        var bytes = 8 * 1_048_576
        /// The bytes of one text; longer ones are cut.
        var text = 16_384
    }

    /// A rectangle in that of the parent; x goes to the right and y down.
    struct Frame: Sendable, Hashable {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }

    /// One view of it.
    struct Node: Sendable {
        var id: String
        var type: String
        /// The place of its parent; -1 for the root.
        var parent: Int
        var frame: Frame
        var isHidden: Bool
        var clips: Bool
        var alpha: Double
        var properties: [InspectorView.Property]
        var picture: InspectorView.Picture?
    }

    private(set) var nodes: [Node] = []
    /// What was left out, as sentences.
    private(set) var cuts: [String] = []
    private var places: [String: Int] = [:]
    /// The last number behind an identity that several views have.
    private var lastNumbers: [String: Int] = [:]

    init(_ root: InspectorView, _ limits: Limits = Limits()) {
        var bytes = 0
        var (isTooDeep, isTooMany, isTooLong) = (false, false, false)
        // Those that are still to be taken, the next one last: no recursion, however deep the app's tree is.
        var waiting = [(node: root, parent: -1, depth: 0)]
        while let (node, parent, depth) = waiting.popLast() {
            if nodes.count >= limits.nodes {
                isTooMany = true
                break
            }
            let place = nodes.count
            nodes.append(take(node, parent, limits, &bytes, &isTooLong))
            if depth + 1 >= limits.depth {
                if !node.children.isEmpty { isTooDeep = true }
                continue
            }
            for child in node.children.reversed() { waiting.append((child, place, depth + 1)) }
        }
        if isTooMany { cuts.append("Only the first \(limits.nodes) views are shown.") }
        if isTooDeep { cuts.append("Views deeper than \(limits.depth) are left out.") }
        if isTooLong { cuts.append("Texts behind the first \(ByteCount(limits.bytes)) are left out.") }
    }

    /// Takes one view, with its texts cut to what there is room for.
    private mutating func take(
        _ node: InspectorView,
        _ parent: Int,
        _ limits: Limits,
        _ bytes: inout Int,
        _ isTooLong: inout Bool
    ) -> Node {
        let (id, type) = (unique(Self.cut(node.id, 512)), Self.cut(node.type, 512))
        bytes += id.utf8.count + type.utf8.count
        var properties: [InspectorView.Property] = []
        for property in node.properties {
            let property = InspectorView.Property(Self.cut(property.name, 512), Self.cut(property.value, limits.text))
            let size = property.name.utf8.count + property.value.utf8.count
            if bytes + size > limits.bytes {
                isTooLong = true
                break
            }
            bytes += size
            properties.append(property)
        }
        places[id] = nodes.count
        return Node(
            id: id,
            type: type,
            parent: parent,
            frame: Self.finite(node),
            isHidden: node.isHidden,
            clips: node.clips,
            alpha: node.alpha.isFinite ? min(1, max(0, node.alpha)) : 1,
            properties: properties,
            picture: node.picture
        )
    }

    /// An identity that two views have names the first one; the second gets a number.
    private mutating func unique(_ id: String) -> String {
        if places[id] == nil { return id }
        var number = lastNumbers[id, default: 1] + 1
        while places["\(id) (\(number))"] != nil { number += 1 }
        lastNumbers[id] = number
        return "\(id) (\(number))"
    }

    private static func cut(_ text: String, _ limit: Int) -> String {
        if text.utf8.count <= limit { return text }
        return String(decoding: Array(text.utf8.prefix(limit)), as: UTF8.self) + "…"
    }

    /// Numbers that can be drawn, to the hundredth.
    private static func finite(_ view: InspectorView) -> Frame {
        func number(_ value: Double) -> Double {
            value.isFinite ? (min(1e7, max(-1e7, value)) * 100).rounded() / 100 : 0
        }
        return Frame(
            x: number(view.x),
            y: number(view.y),
            width: max(0, number(view.width)),
            height: max(0, number(view.height))
        )
    }

    /// The view of that identity; `nil` where there is none in this tree.
    subscript(id: String) -> Node? { places[id].map { nodes[$0] } }

    /// The identities of views with a text in their identity, class or properties, in any case; the first 1,000.
    func search(_ text: String) -> [String] {
        let text = text.lowercased()
        func has(_ other: String) -> Bool { other.lowercased().contains(text) }
        return nodes.lazy.filter { node in
            has(node.id) || has(node.type) || node.properties.contains { has($0.name) || has($0.value) }
        }.prefix(1_000).map(\.id)
    }

    // MARK: As the page gets it

    /// The tree without properties and pictures.
    struct Drawing: Codable, Hashable, Sendable {
        /// The names of classes, each once.
        var types: [String]
        var ids: [String]
        /// Of each view: the place of its class in ``types``, its parent's place, x, y, width, height, 1 for hidden and 2 for
        /// clipping, how opaque it is, and a number that changes with the picture (0: it has none).
        var nodes: [[Double]]
        /// What was left out, in sentences.
        var cut: String?
    }

    var drawing: Drawing {
        var (types, numbers): ([String], [String: Int]) = ([], [:])
        let nodes = nodes.map { node in
            let type = numbers[node.type] ?? types.count
            if type == types.count {
                numbers[node.type] = type
                types.append(node.type)
            }
            let flags = (node.isHidden ? 1 : 0) + (node.clips ? 2 : 0)
            let (frame, alpha) = (node.frame, (node.alpha * 1_000).rounded() / 1_000)
            let place = [Double(type), Double(node.parent), frame.x, frame.y, frame.width, frame.height]
            return place + [Double(flags), alpha, Double(node.pictureNumber)]
        }
        let cut = cuts.isEmpty ? nil : cuts.joined(separator: " ")
        return Drawing(types: types, ids: self.nodes.map(\.id), nodes: nodes, cut: cut)
    }
}

extension ViewTree.Node {
    /// Another one once the picture is another; 1 for one that is made when it is asked for.
    fileprivate var pictureNumber: Int64 {
        switch picture {
        case nil: 0
        case .made: 1
        case .png(let bytes): Int64(bytes.hashValue & 0x7FFF_FFFF) | 2
        }
    }

    /// All that is known of it, as the page gets it.
    struct Details: Codable, Hashable, Sendable {
        var id: String
        var type: String
        /// Names with their values.
        var properties: [[String]]
    }

    var details: Details { Details(id: id, type: type, properties: properties.map { [$0.name, $0.value] }) }
}
