// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Finds what a path leads to: a tree of path segments.
///
/// A segment is a text, a parameter (`:name`, any one segment), or `*` at the end (all that is left, even nothing). A
/// text is preferred to a parameter and a parameter to a `*`, segment by segment, and what doesn't lead to the end is
/// taken back. Matching takes time linear in the path unless routes differ only behind parameters.
struct Router<Value: Sendable>: Sendable {
    /// A value and what the parameters stood for, in the order of the path.
    struct Match {
        var value: Value
        var arguments: [String]
    }

    private var root = Node()

    private struct Node: Sendable {
        var texts: [String: Node] = [:]
        var parameter: [Node] = []
        var value: Value?
        var rest: Value?
    }

    var isEmpty: Bool {
        root.texts.isEmpty && root.parameter.isEmpty && root.value == nil && root.rest == nil
    }

    /// Makes `path` lead to what `change` makes of the value that it leads to now.
    ///
    /// - Parameters:
    ///   - path: one that ``parameters(of:_:)`` has taken.
    ///   - change: gets the value that is there, if there is one, and may replace it.
    mutating func update(_ path: String, _ change: (inout Value?) -> Void) {
        let segments = Self.segments(of: path)
        Self.update(&root, segments[...], change)
    }

    /// The names of a path's parameters, in their order.
    ///
    /// - Parameters:
    ///   - path: of a route.
    ///   - route: what the error calls it.
    /// - Returns: the names.
    /// - Throws: ``RouteError`` when the path is none.
    static func parameters(of path: String, _ route: String) throws(RouteError) -> [String] {
        guard path.hasPrefix("/") || path == "*" else {
            throw RouteError(code: .badPath, route: route, message: "A path begins with a slash.")
        }
        let segments = segments(of: path)
        guard !segments.dropLast().contains("*") else {
            throw RouteError(code: .badPath, route: route, message: "A * stands at the end of a path.")
        }
        return segments.filter { $0.hasPrefix(":") }.map { String($0.dropFirst()) }
    }

    /// Whether a route's path leads nowhere else than to itself, as it stands.
    static func isPlain(_ path: String) -> Bool {
        !path.utf8.contains(UInt8(ascii: "%"))
            && !segments(of: path).contains { $0 == "*" || $0.hasPrefix(":") }
    }

    private static func update(
        _ node: inout Node,
        _ segments: ArraySlice<Substring>,
        _ change: (inout Value?) -> Void
    ) {
        guard let segment = segments.first else {
            change(&node.value)
            return
        }
        let next = segments.dropFirst()
        if segment == "*" {
            change(&node.rest)
        } else if segment.hasPrefix(":") {
            if node.parameter.isEmpty { node.parameter = [Node()] }
            update(&node.parameter[0], next, change)
        } else {
            update(&node.texts[String(segment), default: Node()], next, change)
        }
    }

    /// What `path` leads to.
    ///
    /// - Parameter path: as it was sent; its segments are percent-decoded one by one, so that an encoded slash stays
    ///   within its segment.
    /// - Returns: the value and what the parameters stood for; `nil` for a path that leads nowhere or isn't UTF-8.
    func match(_ path: String) -> Match? {
        // The server as a whole (`OPTIONS *`) is no path of the tree, and a tunnel (CONNECT) has none.
        guard let segments = PercentDecoding.segments(ofPath: path) else { return nil }
        var values: [String] = []
        return Self.find(root, segments[...], &values)
    }

    private static func find(_ node: Node, _ segments: ArraySlice<String>, _ values: inout [String]) -> Match? {
        if let segment = segments.first {
            let next = segments.dropFirst()
            if let child = node.texts[segment], let match = find(child, next, &values) { return match }
            if let child = node.parameter.first, !segment.isEmpty {
                values.append(segment)
                if let match = find(child, next, &values) { return match }
                values.removeLast()
            }
        } else if let value = node.value {
            return Match(value: value, arguments: values)
        }
        return node.rest.map { Match(value: $0, arguments: values) }
    }

    private static func segments(of path: String) -> [Substring] {
        path == "*" ? ["*"] : PercentDecoding.rawSegments(ofPath: path)
    }
}
