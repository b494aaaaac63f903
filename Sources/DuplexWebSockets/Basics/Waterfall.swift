// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import DuplexWire

/// A picture of stages in text: a line for each, with a bar where it lies in time.
struct Waterfall {
    struct Row {
        var label: String
        var start: Duration
        var end: Duration
        /// Whether it failed.
        var isLost = false
        /// Whether it is a wait that may be far longer than all before it, and then is cut.
        var isOpenEnded = false
    }

    var rows: [Row] = []

    private static let leastWidth = 40
    private static let timeWidth = 8

    /// Draws.
    ///
    /// - Parameter width: how many columns a line has; fewer than 40 are taken as 40.
    /// - Returns: the lines.
    func lines(width: Int) -> [String] {
        let width = max(Self.leastWidth, width)
        let labelWidth = min(rows.map(\.label.count).max() ?? 0, width * 2 / 5)
        let columns = width - labelWidth - Self.timeWidth - 2
        let scale = scale
        return rows.map { row in
            let bar = bar(row, columns, scale)
            return "\(Self.label(row.label, labelWidth)) \(bar) \(Self.time(row.end - row.start))"
        }
    }

    /// What the whole width stands for.
    private var scale: Duration {
        let longest = rows.filter { !$0.isOpenEnded }.map(\.end).max() ?? .zero
        let whole = rows.map(\.end).max() ?? .zero
        return max(.nanoseconds(1), longest > .zero && whole > longest * 4 ? longest * 4 : whole)
    }

    private func bar(_ row: Row, _ columns: Int, _ scale: Duration) -> String {
        // Cut before they become whole numbers, which may be too small for a wait of years.
        let place = { (instant: Duration) in max(0, min(1, instant / scale)) * Double(columns) }
        let start = min(columns - 1, Int(place(row.start).rounded(.down)))
        let end = max(start + 1, Int(place(row.end).rounded(.up)))
        var bar = String(repeating: row.isLost ? "░" : "█", count: end - start)
        if row.end > scale { bar = String(bar.dropLast()) + "▶" }
        return String(repeating: " ", count: start) + bar + String(repeating: " ", count: columns - end)
    }

    private static func label(_ text: String, _ width: Int) -> String {
        if text.count > width { return String(text.prefix(width - 1)) + "…" }
        return text + String(repeating: " ", count: width - text.count)
    }

    private static func time(_ duration: Duration) -> String {
        let text = HandshakeTimeline.text(duration)
        return String(repeating: " ", count: max(0, timeWidth - text.count)) + text
    }
}

extension HandshakeTimeline {
    /// A picture of the attempt for terminals: a line for each stage and each address, with a bar where it lies in time, and
    /// how long it took.
    ///
    /// - Parameter width: how many columns a line has, 40 at least. Default: 80.
    /// - Returns: the lines.
    package func waterfall(width: Int = 80) -> [String] {
        Waterfall(rows: waterfallRows).lines(width: width)
    }

    fileprivate var waterfallRows: [Waterfall.Row] {
        var rows: [Waterfall.Row] = []
        guard let connecting else { return [Waterfall.Row(label: "\(stage)", start: .zero, end: total, isLost: true)] }
        // What was before is tokens, and requests that led to this one.
        let began = connectingBegan
        if requests > 1 { rows.append(Waterfall.Row(label: "requests before", start: .zero, end: began)) }
        let lost = isOpen ? nil : stage
        rows += connecting.waterfallRows(from: began, lostAt: lost, security)
        if let upgrade {
            let row = Waterfall.Row(label: "upgrade", start: asked, end: asked + upgrade, isLost: lost == .upgrade)
            rows.append(row)
        }
        return rows
    }
}

extension ConnectTimeline {
    /// A picture of how a connection was made for terminals: a line for the name, each address, the proxy and TLS, with a bar
    /// where it lies in time, and how long it took.
    ///
    /// - Parameter width: how many columns a line has, 40 at least. Default: 80.
    /// - Returns: the lines.
    package func waterfall(width: Int = 80) -> [String] {
        Waterfall(rows: waterfallRows(from: .zero, lostAt: nil, nil)).lines(width: width)
    }

    /// A picture of an attempt that has failed, up to there.
    fileprivate func waterfall(width: Int, lostAt stage: HandshakeTimeline.Stage) -> [String] {
        let rows = waterfallRows(from: .zero, lostAt: stage, nil)
        let whole = [Waterfall.Row(label: "\(stage)", start: .zero, end: total, isLost: true)]
        return Waterfall(rows: rows.isEmpty ? whole : rows).lines(width: width)
    }

    fileprivate func waterfallRows(
        from began: Duration,
        lostAt stage: HandshakeTimeline.Stage?,
        _ security: HandshakeTimeline.Security?
    ) -> [Waterfall.Row] {
        intervals.flatMap { interval in
            if interval.stage == .connecting { return attemptRows(from: began) }
            let row = Waterfall.Row(
                label: interval.stage == .tls ? security?.description ?? "TLS" : interval.stage.rawValue,
                start: began + interval.start,
                end: began + interval.end,
                isLost: stage == interval.stage
            )
            return [row]
        }
    }

    private func attemptRows(from began: Duration) -> [Waterfall.Row] {
        attempts.map { attempt in
            let isChosen = attempt.outcome == .connected
            let kind = attempt.address.path == nil ? "TCP " : ""
            let label = kind + attempt.address.description + (isChosen ? "" : " \(attempt.outcome)")
            let (start, end) = (began + attempt.start, began + attempt.end)
            return Waterfall.Row(label: label, start: start, end: end, isLost: !isChosen)
        }
    }
}

extension SocketError {
    /// A picture of the attempt to connect that has failed, for terminals: a line for each stage and each address that there
    /// was, with a bar where it lies in time, and how long it took.
    ///
    /// - Parameter width: how many columns a line has, 40 at least. Default: 80.
    /// - Returns: the lines; none for an error without a `timeline`.
    package func waterfall(width: Int = 80) -> [String] {
        timeline?.waterfall(width: width, lostAt: HandshakeTimeline.Stage(self)) ?? []
    }
}

extension WebSocketTimeline {
    /// A picture of how the connection came about for terminals: a line for each stage and each address up to the first
    /// message, with a bar where it lies in time, and how long it took.
    ///
    /// ```text
    /// names                     ███                                             14 ms
    /// TCP [2001:db8::1]:443 a…     ░░░░░░░░░░                                    42 ms
    /// ```
    ///
    /// A first message that came long after everything else has its bar cut.
    ///
    /// - Parameter width: how many columns a line has, 40 at least. Default: 80.
    /// - Returns: the lines.
    package func waterfall(width: Int = 80) -> [String] {
        var rows = handshake?.waterfallRows ?? []
        let open = began.duration(to: opened)
        if handshake == nil {
            if let tls {
                rows.append(Waterfall.Row(label: security?.description ?? "TLS", start: .zero, end: tls))
            }
            if let upgrade {
                rows.append(Waterfall.Row(label: "upgrade", start: max(.zero, open - upgrade), end: open))
            }
        }
        if let firstMessage {
            let end = began.duration(to: firstMessage)
            rows.append(Waterfall.Row(label: "first message", start: open, end: end, isOpenEnded: true))
        }
        return Waterfall(rows: rows).lines(width: width)
    }
}
