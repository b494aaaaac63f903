// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Synchronization

/// Looks on while one request is answered; on its loop.
package protocol ExchangeWatcher: AnyObject {
    /// A piece of the request's body has come.
    func received(_ bytes: RawSpan)
    /// This is about to be sent; a body that is at hand goes with it.
    func answered(_ response: Response)
    /// A piece of a body that wasn't at hand goes out; not called for a file.
    func sent(_ piece: RawSpan)
    /// It is over.
    func ended(_ outcome: RequestOutcome)
}

/// Looks on while the requests of a route are answered, whoever answers them.
package protocol RequestObserver: Sendable {
    /// Open while it wants to observe the requests that come; nil where it observes all of them. Always the same one: routes
    /// ask for it once.
    var gate: ObserverGate? { get }
    /// An observer of one request.
    ///
    /// - Parameters:
    ///   - request: the request; one that couldn't be read is a GET of nothing, without fields.
    ///   - route: as of ``RequestOutcome/route``.
    /// - Returns: the observer; nil where the end is enough.
    func watcher(of request: Request, route: String?) -> (any ExchangeWatcher)?
    /// An observer of one route, with what is known before a request comes.
    ///
    /// - Parameter route: as of ``RequestOutcome/route``.
    /// - Returns: the observer of that route.
    func following(_ route: String?) -> any RequestObserver
    /// A request has come, which no middleware has seen yet.
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
    package var gate: ObserverGate? { nil }
    /// Whether it wants to observe the requests that come now.
    package var isLooking: Bool { gate?.isOpen ?? true }
    package func watcher(of request: Request, route: String?) -> (any ExchangeWatcher)? { nil }
    package func following(_ route: String?) -> any RequestObserver { self }
    package func began(_ request: Request, route: String?) {}
    package func finish() async {}
}

/// Says whether an observer wants to observe requests now, for one that doesn't always.
///
/// An object of its own, which routes keep: asking each observer for each request would take some 150 instructions.
package final class ObserverGate: Sendable {
    private let state = Atomic<Bool>(false)

    /// Makes one that is closed.
    package init() {}

    /// Whether the observer looks; takes no lock.
    package var isOpen: Bool { state.load(ordering: .relaxed) }

    /// Opens or closes it.
    package func set(open: Bool) { state.store(open, ordering: .relaxed) }
}

/// Calls a closure at the end of each exchange.
struct CompletionObserver: RequestObserver {
    let body: @Sendable (Request, RequestOutcome) -> Void

    func ended(_ request: Request, _ outcome: RequestOutcome) { body(request, outcome) }
}
