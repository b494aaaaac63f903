// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What the poller watches.

extension Channel {
    func updateInterest() {
        guard isOpen else { return }
        var wanted: Readiness = []
        if wantsInput { wanted.insert(.readable) }
        // What waits for the end of a handshake doesn't wait for the socket.
        if (tls?.wireCount ?? queuedBytes) > 0 || handlerSends { wanted.insert(.writable) }
        guard wanted != interest else { return }
        let isWatched = interest != nil
        interest = wanted
        if isWatched { carrier.modify(wanted, core) } else { watch(for: wanted) }
    }

    private func watch(for wanted: Readiness) {
        do {
            try carrier.watch(for: wanted, handler: self, core)
        } catch {
            interest = nil
            fail(error)
        }
    }

    func unwatch() {
        if interest != nil { carrier.unwatch(core) }
        interest = nil
    }
}
