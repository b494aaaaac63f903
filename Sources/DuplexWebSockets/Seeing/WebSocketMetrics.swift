// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import CoreMetrics
import DuplexWire
import Synchronization

/// Metrics of connections, with swift-metrics.
///
/// Make one, and give it to all connections that are to be counted together: the instruments are made once. All labels
/// begin with the prefix, and have the dimension `role`, which is `client` or `server`:
///
/// - counters `_connections_opened` and `_connections_closed`, the meter `_connections_current`, the counter `_closes` with
///   the dimension `code`, and the timer `_opening` from the first step to the open connection;
/// - counters `_messages` and `_message_bytes` with the dimension `direction`, `in` or `out`;
/// - counters `_compressed_bytes` with the dimensions `direction` and `form`, `plain` or `deflated`, and the recorder
///   `_compression_ratio`, what deflating has made of 1 byte, of each connection at its end;
/// - recorders `_queued_bytes` and `_inbox_messages`, and the timer `_round_trip`.
///
/// A message costs nothing: each connection reports every ``interval``, and at its end.
public struct WebSocketMetrics: Sendable {
    /// How often a connection reports.
    ///
    /// Default: 10 s.
    public var interval = Duration.seconds(10)

    private let instruments: Instruments

    /// Metrics made by a factory.
    ///
    /// - Parameters:
    ///   - factory: makes the metrics. Default: the one that the system was bootstrapped with.
    ///   - prefix: what labels begin with. Default: `websocket`.
    ///   - dimensions: of every instrument besides its own, such as the name of an endpoint.
    public init(
        _ factory: any MetricsFactory = MetricsSystem.factory,
        prefix: String = "websocket",
        dimensions: [(String, String)] = []
    ) {
        instruments = Instruments(factory, prefix, dimensions)
    }

    func instruments(_ role: WebSocketSession.Role) -> RoleInstruments {
        instruments.byRole.withLock { byRole in
            let found =
                byRole[role] ?? RoleInstruments(instruments.factory, instruments.prefix, role, instruments.dimensions)
            byRole[role] = found
            return found
        }
    }

    private final class Instruments: Sendable {
        let factory: any MetricsFactory
        let prefix: String
        let dimensions: [(String, String)]
        let byRole = Mutex<[WebSocketSession.Role: RoleInstruments]>([:])

        init(_ factory: any MetricsFactory, _ prefix: String, _ dimensions: [(String, String)]) {
            self.factory = factory
            self.prefix = prefix
            self.dimensions = dimensions
        }
    }
}

/// The instruments for all connections of one role.
final class RoleInstruments: Sendable {
    let opened: Counter
    let closed: Counter
    let current: Meter
    let opening: Timer
    let messagesIn: Counter
    let messagesOut: Counter
    let bytesIn: Counter
    let bytesOut: Counter
    let plainIn: Counter
    let plainOut: Counter
    let deflatedIn: Counter
    let deflatedOut: Counter
    let ratio: Recorder
    let queuedBytes: Recorder
    let inboxMessages: Recorder
    let roundTrip: Timer

    private let factory: any MetricsFactory
    private let closesLabel: String
    private let dimensions: [(String, String)]
    private let codes = Mutex<[String: Counter]>([:])

    /// The most close codes that are counted separately: peers choose them.
    static let codeBound = 64

    init(_ factory: any MetricsFactory, _ prefix: String, _ role: WebSocketSession.Role, _ common: [(String, String)]) {
        let dimensions = common + [("role", "\(role)")]
        func counter(_ name: String, _ more: (String, String)...) -> Counter {
            Counter(label: "\(prefix)_\(name)", dimensions: dimensions + more, factory: factory)
        }
        func recorder(_ name: String) -> Recorder {
            Recorder(label: "\(prefix)_\(name)", dimensions: dimensions, aggregate: true, factory: factory)
        }
        opened = counter("connections_opened")
        closed = counter("connections_closed")
        current = Meter(label: "\(prefix)_connections_current", dimensions: dimensions, factory: factory)
        opening = Timer(label: "\(prefix)_opening", dimensions: dimensions, factory: factory)
        messagesIn = counter("messages", ("direction", "in"))
        messagesOut = counter("messages", ("direction", "out"))
        bytesIn = counter("message_bytes", ("direction", "in"))
        bytesOut = counter("message_bytes", ("direction", "out"))
        plainIn = counter("compressed_bytes", ("direction", "in"), ("form", "plain"))
        plainOut = counter("compressed_bytes", ("direction", "out"), ("form", "plain"))
        deflatedIn = counter("compressed_bytes", ("direction", "in"), ("form", "deflated"))
        deflatedOut = counter("compressed_bytes", ("direction", "out"), ("form", "deflated"))
        ratio = recorder("compression_ratio")
        queuedBytes = recorder("queued_bytes")
        inboxMessages = recorder("inbox_messages")
        roundTrip = Timer(label: "\(prefix)_round_trip", dimensions: dimensions, factory: factory)
        self.factory = factory
        self.dimensions = dimensions
        closesLabel = "\(prefix)_closes"
    }

    /// The counter of a close code; one for all codes beyond the bound.
    func closes(_ code: CloseCode) -> Counter {
        codes.withLock { codes in
            let name = codes["\(code.rawValue)"] != nil || codes.count < Self.codeBound ? "\(code.rawValue)" : "other"
            let counter =
                codes[name] ?? Counter(label: closesLabel, dimensions: dimensions + [("code", name)], factory: factory)
            codes[name] = counter
            return counter
        }
    }
}

/// What of one connection's numbers was reported, and what is left to be.
///
/// Belongs to the loop of its connection.
final class ConnectionMeters {
    let interval: Duration
    private let session: WebSocketSession
    private let instruments: RoleInstruments
    private var reported = SessionCounts()
    private var reportedCompression = CompressionCounts()
    private var isOpen = false

    init(_ metrics: WebSocketMetrics, _ session: WebSocketSession) {
        self.session = session
        instruments = metrics.instruments(session.masksFrames ? .client : .server)
        interval = max(metrics.interval, .milliseconds(1))
    }

    deinit {
        // A connection that was dropped without being closed isn't there any more, either.
        ended()
    }

    func opened(after opening: Duration) {
        isOpen = true
        instruments.opened.increment()
        instruments.current.increment()
        instruments.opening.recordNanoseconds(opening.wholeNanoseconds)
    }

    /// Hands in what has come together since the last time; nothing of what hasn't changed.
    func report() {
        let counts = session.counts
        let new = counts.since(reported)
        reported = counts
        Self.add(new.messagesReceived, to: instruments.messagesIn)
        Self.add(new.messagesSent, to: instruments.messagesOut)
        Self.add(new.bytesReceived, to: instruments.bytesIn)
        Self.add(new.bytesSent, to: instruments.bytesOut)
        guard let compression = session.compression?.counts else { return }
        Self.add(compression.bytesInflated - reportedCompression.bytesInflated, to: instruments.plainIn)
        Self.add(
            compression.bytesBeforeInflating - reportedCompression.bytesBeforeInflating,
            to: instruments.deflatedIn
        )
        Self.add(compression.bytesBeforeDeflating - reportedCompression.bytesBeforeDeflating, to: instruments.plainOut)
        Self.add(compression.bytesDeflated - reportedCompression.bytesDeflated, to: instruments.deflatedOut)
        reportedCompression = compression
    }

    private static func add(_ amount: Int, to counter: Counter) {
        if amount > 0 { counter.increment(by: amount) }
    }

    func depths(queuedBytes: Int, inbox: Int) {
        instruments.queuedBytes.record(queuedBytes)
        instruments.inboxMessages.record(inbox)
    }

    func roundTrip(_ duration: Duration) {
        instruments.roundTrip.recordNanoseconds(duration.wholeNanoseconds)
    }

    /// Hands in what is left and counts the connection out, once.
    func ended() {
        guard isOpen else { return }
        isOpen = false
        report()
        instruments.closed.increment()
        instruments.current.decrement()
        instruments.closes(session.report.code).increment()
        if reportedCompression.bytesBeforeDeflating > 0 {
            let ratio = Double(reportedCompression.bytesDeflated) / Double(reportedCompression.bytesBeforeDeflating)
            instruments.ratio.record(ratio)
        }
    }
}
