// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire

/// The last requests of a server, kept while somebody looks, and for a minute behind that.
final class RequestHistory: RequestObserver {
    /// Numbered from 1 on.
    let ring: LiveRing<RecordedExchange>
    private let options: RequestHistoryOptions
    private let watchers: LiveWatchers

    /// - Parameters:
    ///   - options: how much is kept.
    ///   - grace: how long it goes on after its last viewer. Default: a minute.
    init(_ options: RequestHistoryOptions, grace: Duration = .seconds(60)) {
        self.options = options
        watchers = LiveWatchers(grace: grace)
        ring = LiveRing(keeping: options.count, options.size)
    }

    // MARK: Looking

    var isLooking: Bool { watchers.areThere }

    /// Keeps requests for as long as the result is kept.
    func look() -> LiveHold { watchers.watch() }

    // MARK: Seeing

    func watcher(of request: Request, route: String?) -> (any ExchangeWatcher)? {
        RequestWatcher(request, route, keeping: options.bodySize.bytes) { [ring] exchange in
            let size = 512 + exchange.requestBody.bytes.count + exchange.responseBody.bytes.count
            ring.append(size: size) { number in
                var exchange = exchange
                exchange.id = number
                return exchange
            }
        }
    }

    func ended(_ request: Request, _ outcome: RequestOutcome) {}
}
