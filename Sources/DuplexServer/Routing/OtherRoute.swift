// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A handler of requests that no path leads to: those that a closure of the app picks, or all that are left.
struct OtherRoute: Sendable {
    private let host: HostPattern?
    /// What the path begins with, without a slash at its end.
    private let prefix: String
    private let pick: (@Sendable (RequestHead) -> Bool)?
    let endpoint: Endpoint

    /// Whether it takes all that is left.
    var isFallback: Bool { pick == nil }

    init(
        _ host: HostPattern?,
        below prefix: String,
        _ pick: (@Sendable (RequestHead) -> Bool)?,
        _ endpoint: Endpoint
    ) {
        self.host = host
        self.prefix = prefix
        self.pick = pick
        self.endpoint = endpoint
    }

    /// Whether it answers a request.
    ///
    /// - Parameters:
    ///   - head: of the request.
    ///   - name: the host that it is for, in lower case and without a port.
    /// - Returns: whether it does.
    func picks(_ head: RequestHead, _ name: Substring) -> Bool {
        if let host, !host.matches(name) { return false }
        return isAbove(head.path) && (pick?(head) ?? true)
    }

    /// Whether a path begins with the prefix, as paths of routes are found: segment by segment, percent-decoded.
    ///
    /// Else one more way to write a path would lead past the steps of its group.
    private func isAbove(_ path: String) -> Bool {
        if prefix.isEmpty { return true }
        let wanted = PercentDecoding.rawSegments(ofPath: prefix)
        let segments = PercentDecoding.rawSegments(ofPath: path)
        guard path.hasPrefix("/"), segments.count >= wanted.count else { return false }
        return zip(wanted, segments).allSatisfy { wanted, segment in
            wanted.hasPrefix(":") ? !segment.isEmpty : PercentDecoding.decode(segment) == String(wanted)
        }
    }

    /// Those for longer paths first, then those for one host, and otherwise as the app has them.
    static func ordered(_ routes: [OtherRoute]) -> [OtherRoute] {
        routes.enumerated().sorted { first, second in
            let (one, other) = (first.element, second.element)
            if one.prefix.count != other.prefix.count { return one.prefix.count > other.prefix.count }
            if (one.host == nil) != (other.host == nil) { return one.host != nil }
            return first.offset < second.offset
        }.map(\.element)
    }
}
