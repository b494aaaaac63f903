// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import CoreMetrics
import DuplexWire
import HTTPTypes
import Synchronization

/// Where the numbers of requests go, by swift-metrics.
///
/// Make one, and give it to ``RouteOption/metrics(_:)``: the instruments are made once for each route, method and status.
/// Names are OpenTelemetry's:
///
/// - the timer `http.server.request.duration`, the counter `http.server.requests` and the recorders
///   `http.server.request.body.size` and `http.server.response.body.size`, in bytes, with the dimensions
///   `http.request.method`, `http.route` and `http.response.status_code`;
/// - the meter `http.server.active_requests` with the dimension `http.request.method`.
///
/// The route is its path as the app has written it, such as `/users/:id`, and `_OTHER` for all that no route answers; so is a
/// method that isn't one of the known ones. The status is `none` where the client had gone before.
public struct ServerMetrics: Sendable {
    fileprivate let instruments: Instruments

    /// Numbers that go to a factory.
    ///
    /// - Parameters:
    ///   - factory: where instruments are made. Default: the one that the system was bootstrapped with.
    ///   - dimensions: of every instrument besides its own, such as the name of a service.
    public init(_ factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []) {
        instruments = Instruments(factory, dimensions)
    }
}

extension RouteOption {
    /// Counts and times requests; see ``ServerMetrics``.
    ///
    /// - Parameter metrics: where the numbers go. Default: the factory that the system was bootstrapped with.
    /// - Returns: the option.
    public static func metrics(_ metrics: ServerMetrics = ServerMetrics()) -> RouteOption {
        .observed(by: MetricsObserver(instruments: metrics.instruments))
    }
}

private struct MetricsObserver: RequestObserver {
    let instruments: Instruments

    func began(_ request: Request, route: String?) {
        instruments.active(request.method).increment()
    }

    func ended(_ request: Request, _ outcome: RequestOutcome) {
        instruments.active(request.method).decrement()
        let found = instruments.exchanges(outcome.route, request.method, outcome.status)
        found.count.increment()
        found.duration.recordNanoseconds(outcome.duration.wholeNanoseconds)
        found.received.record(outcome.receivedBytes)
        found.sent.record(outcome.sentBytes)
    }
}

/// The instruments, each made when it is first needed.
private final class Instruments: Sendable {
    struct Key: Hashable {
        var route: String?
        var method: String?
        var status: Int?
    }

    private struct State {
        var exchanges: [Key: ExchangeInstruments] = [:]
        var active: [String?: Meter] = [:]
    }

    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    private let state = Mutex(State())

    init(_ factory: any MetricsFactory, _ dimensions: [(String, String)]) {
        self.factory = factory
        self.dimensions = dimensions
    }

    func active(_ method: HTTPRequest.Method) -> Meter {
        let method = method.knownName
        return state.withLock { state in
            if let meter = state.active[method] { return meter }
            let meter = Meter(
                label: "http.server.active_requests",
                dimensions: dimensions + [("http.request.method", method ?? "_OTHER")],
                factory: factory
            )
            state.active[method] = meter
            return meter
        }
    }

    func exchanges(
        _ route: String?,
        _ method: HTTPRequest.Method,
        _ status: HTTPResponse.Status?
    ) -> ExchangeInstruments {
        let key = Key(route: route, method: method.knownName, status: status?.code)
        return state.withLock { state in
            if let found = state.exchanges[key] { return found }
            let own = [
                ("http.request.method", key.method ?? "_OTHER"), ("http.route", key.route ?? "_OTHER"),
                ("http.response.status_code", key.status.map { "\($0)" } ?? "none"),
            ]
            let made = ExchangeInstruments(factory, dimensions + own)
            state.exchanges[key] = made
            return made
        }
    }
}

private struct ExchangeInstruments: Sendable {
    let count: Counter
    let duration: Timer
    let received: Recorder
    let sent: Recorder

    init(_ factory: any MetricsFactory, _ dimensions: [(String, String)]) {
        func recorder(_ label: String) -> Recorder {
            Recorder(label: label, dimensions: dimensions, aggregate: true, factory: factory)
        }
        count = Counter(label: "http.server.requests", dimensions: dimensions, factory: factory)
        duration = Timer(label: "http.server.request.duration", dimensions: dimensions, factory: factory)
        received = recorder("http.server.request.body.size")
        sent = recorder("http.server.response.body.size")
    }
}
