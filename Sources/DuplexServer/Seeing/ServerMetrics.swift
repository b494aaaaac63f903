// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import CoreMetrics
import DuplexWire
import HTTPTypes
import Synchronization

/// Metrics of requests, with swift-metrics.
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

    /// Metrics made by a factory.
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

    func following(_ route: String?) -> any RequestObserver { instruments.of(route) }
    func began(_ request: Request, route: String?) { instruments.of(route).began(request, route: route) }
    func ended(_ request: Request, _ outcome: RequestOutcome) { instruments.of(outcome.route).ended(request, outcome) }
}

/// The instruments, each made when it is first needed.
private final class Instruments: Sendable {
    private let methods: MethodInstruments
    private let routes = Mutex<[String?: RouteInstruments]>([:])

    init(_ factory: any MetricsFactory, _ dimensions: [(String, String)]) {
        methods = MethodInstruments(factory, dimensions)
    }

    /// Those of all methods of a path.
    func of(_ route: String?) -> RouteInstruments {
        routes.withLock { routes in
            if let found = routes[route] { return found }
            let made = RouteInstruments(methods, route)
            routes[route] = made
            return made
        }
    }
}

/// The instruments that all routes share.
private final class MethodInstruments: Sendable {
    let factory: any MetricsFactory
    let dimensions: [(String, String)]
    private let meters = Mutex<[String?: Meter]>([:])

    init(_ factory: any MetricsFactory, _ dimensions: [(String, String)]) {
        self.factory = factory
        self.dimensions = dimensions
    }

    /// How many requests of a method are being answered.
    func active(_ method: String?) -> Meter {
        meters.withLock { meters in
            if let meter = meters[method] { return meter }
            let meter = Meter(
                label: "http.server.active_requests",
                dimensions: dimensions + [("http.request.method", method ?? "_OTHER")],
                factory: factory
            )
            meters[method] = meter
            return meter
        }
    }
}

/// The instruments of a route: few, so that a look at each of them finds one sooner than a table would.
private final class RouteInstruments: RequestObserver {
    private struct State {
        var active: [(method: String?, meter: Meter)] = []
        var exchanges: [ExchangeInstruments] = []
    }

    private let methods: MethodInstruments
    private let route: String?
    private let state = Mutex(State())

    init(_ methods: MethodInstruments, _ route: String?) {
        self.methods = methods
        self.route = route
    }

    func began(_ request: Request, route: String?) {
        active(request.method.knownName).increment()
    }

    func ended(_ request: Request, _ outcome: RequestOutcome) {
        let method = request.method.knownName
        active(method).decrement()
        let found = exchanges(method, outcome.status?.code)
        found.count.increment()
        found.duration.recordNanoseconds(outcome.duration.wholeNanoseconds)
        found.received.record(outcome.bytesReceived)
        found.sent.record(outcome.bytesSent)
    }

    private func active(_ method: String?) -> Meter {
        state.withLock { state in
            if let found = state.active.first(where: { $0.method == method }) { return found.meter }
            let made = methods.active(method)
            state.active.append((method, made))
            return made
        }
    }

    private func exchanges(_ method: String?, _ status: Int?) -> ExchangeInstruments {
        state.withLock { state in
            if let found = state.exchanges.first(where: { $0.status == status && $0.method == method }) { return found }
            let own = [
                ("http.request.method", method ?? "_OTHER"), ("http.route", route ?? "_OTHER"),
                ("http.response.status_code", status.map { "\($0)" } ?? "none"),
            ]
            let made = ExchangeInstruments(method, status, methods.factory, methods.dimensions + own)
            state.exchanges.append(made)
            return made
        }
    }
}

private final class ExchangeInstruments: Sendable {
    let method: String?
    let status: Int?
    let count: Counter
    let duration: Timer
    let received: Recorder
    let sent: Recorder

    init(_ method: String?, _ status: Int?, _ factory: any MetricsFactory, _ dimensions: [(String, String)]) {
        func recorder(_ label: String) -> Recorder {
            Recorder(label: label, dimensions: dimensions, aggregate: true, factory: factory)
        }
        self.method = method
        self.status = status
        count = Counter(label: "http.server.requests", dimensions: dimensions, factory: factory)
        duration = Timer(label: "http.server.request.duration", dimensions: dimensions, factory: factory)
        received = recorder("http.server.request.body.size")
        sent = recorder("http.server.response.body.size")
    }
}
