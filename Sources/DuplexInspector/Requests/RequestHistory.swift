// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Foundation
import Synchronization

/// The last requests of a server, kept while somebody looks, and for a minute behind that.
final class RequestHistory: RequestObserver {
    /// Numbered from 1 on.
    let ring: LiveRing<RecordedExchange>
    private let options: RequestHistoryOptions
    /// How long it goes on behind its last viewer, who may only have loaded the page again.
    private let grace: Duration
    private let watchers = Mutex(LiveWatchers())
    private let isOn = Atomic<Bool>(false)

    init(_ options: RequestHistoryOptions, grace: Duration = .seconds(60)) {
        self.options = options
        self.grace = grace
        ring = LiveRing(keeping: options.count, options.size)
    }

    // MARK: Looking

    var isLooking: Bool { isOn.load(ordering: .relaxed) }

    /// Keeps requests for as long as the result is kept.
    func look() -> LiveHold {
        watchers.withLock { watchers in
            watchers.enter()
            isOn.store(true, ordering: .relaxed)
        }
        return LiveHold { [weak self] in self?.release() }
    }

    private func release() {
        guard let turn = watchers.withLock({ $0.leave() }) else { return }
        Task { [weak self, grace] in
            if grace > .zero { try? await Task.sleep(for: grace) }
            self?.end(turn)
        }
    }

    private func end(_ turn: Int) {
        watchers.withLock { watchers in
            if watchers.areGone(since: turn) { isOn.store(false, ordering: .relaxed) }
        }
    }

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
