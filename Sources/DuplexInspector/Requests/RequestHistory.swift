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
    private let viewers = Mutex(Viewers())
    private let isOn = Atomic<Bool>(false)

    private struct Viewers {
        var count = 0
        var turn = 0
    }

    init(_ options: RequestHistoryOptions, grace: Duration = .seconds(60)) {
        self.options = options
        self.grace = grace
        ring = LiveRing(keeping: options.count, options.size)
    }

    // MARK: Looking

    var isLooking: Bool { isOn.load(ordering: .relaxed) }

    /// Keeps requests for as long as the result is kept.
    func look() -> RequestLook {
        viewers.withLock { viewers in
            viewers.count += 1
            viewers.turn += 1
            isOn.store(true, ordering: .relaxed)
        }
        return RequestLook { [weak self] in self?.release() }
    }

    private func release() {
        let turn = viewers.withLock { viewers -> Int? in
            viewers.count -= 1
            return viewers.count == 0 ? viewers.turn : nil
        }
        guard let turn else { return }
        Task { [weak self, grace] in
            if grace > .zero { try? await Task.sleep(for: grace) }
            self?.end(turn)
        }
    }

    private func end(_ turn: Int) {
        viewers.withLock { viewers in
            if viewers.count == 0 && viewers.turn == turn { isOn.store(false, ordering: .relaxed) }
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

/// Has requests be kept for as long as somebody wants them.
final class RequestLook: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
