// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Looks on while the requests of a route are answered, whoever answers them.
protocol RequestObserver: Sendable {
    /// Who looks on at one route, with what can be found out before a request comes.
    ///
    /// - Parameter route: as of ``RequestOutcome/route``.
    /// - Returns: the observer of that route.
    func following(_ route: String?) -> any RequestObserver
    /// A request has come, which no step has seen yet.
    ///
    /// - Parameters:
    ///   - request: the request; one that couldn't be read is a GET of nothing, without fields.
    ///   - route: as of ``RequestOutcome/route``.
    func began(_ request: Request, route: String?)
    /// Its response has gone, or has come to nothing; called once for each that has begun.
    func ended(_ request: Request, _ outcome: RequestOutcome)
    /// The server has ended: what is still to be written is.
    func finish() async
}

extension RequestObserver {
    func following(_ route: String?) -> any RequestObserver { self }
    func began(_ request: Request, route: String?) {}
    func finish() async {}
}

/// Calls a closure at the end of each exchange.
struct CompletionObserver: RequestObserver {
    let body: @Sendable (Request, RequestOutcome) -> Void

    func ended(_ request: Request, _ outcome: RequestOutcome) { body(request, outcome) }
}
