// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The poller over poll(2), which every Unix has.
///
/// Each wait costs time for every descriptor that is watched, ready or not: it serves where there is nothing better, and
/// shows that nothing but `EpollPoller` depends on Linux's way of waiting.
package final class PollPoller: Poller {
    /// What the system is handed, in no order, and the token of each.
    private var entries: [pollfd] = []
    private var tokens: [UInt64] = []
    /// Where the entry of a descriptor is; -1 where there is none.
    private var places: [Int] = []

    package init() {}

    package func add(_ descriptor: Int32, token: UInt64, interest: Readiness) throws(SocketError) {
        while places.count <= descriptor { places.append(-1) }
        assert(places[Int(descriptor)] < 0, "a descriptor is watched already")
        places[Int(descriptor)] = entries.count
        entries.append(pollfd(fd: descriptor, events: interest.pollEvents, revents: 0))
        tokens.append(token)
    }

    package func modify(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        let place = places[Int(descriptor)]
        entries[place].events = interest.pollEvents
        tokens[place] = token
    }

    package func remove(_ descriptor: Int32) {
        let place = places[Int(descriptor)]
        places[Int(descriptor)] = -1
        // The last one takes the place that becomes free.
        let (lastEntry, lastToken) = (entries.removeLast(), tokens.removeLast())
        guard place < entries.count else { return }
        entries[place] = lastEntry
        tokens[place] = lastToken
        places[Int(lastEntry.fd)] = place
    }

    package func wait(_ limit: PollLimit, into events: inout [PollEvent]) {
        events.removeAll(keepingCapacity: true)
        var remaining = SystemCall.wait.make {
            unsafe poll(&entries, nfds_t(entries.count), Self.milliseconds(limit))
        }
        // None: the time is over, or a signal came, after which the loop comes back by itself.
        for index in entries.indices where remaining > 0 && entries[index].revents != 0 {
            events.append(PollEvent(token: tokens[index], readiness: Readiness(poll: entries[index].revents)))
            remaining -= 1
        }
    }

    /// Rounded up, so that no wait ends before its instant.
    private static func milliseconds(_ limit: PollLimit) -> Int32 {
        switch limit {
        case .now: 0
        case .never: -1
        case .until(let instant):
            Int32(clamping: (max(0, instant.nanoseconds - Instant.now().nanoseconds) + 999_999) / 1_000_000)
        }
    }

    package func close() {}
}

extension Readiness {
    fileprivate init(poll events: Int16) {
        self = []
        let events = Int32(events)
        if events & Int32(POLLIN) != 0 { insert(.readable) }
        if events & Int32(POLLOUT) != 0 { insert(.writable) }
        if events & (Int32(POLLERR) | Int32(POLLHUP) | Int32(POLLNVAL)) != 0 { insert(.failed) }
    }

    fileprivate var pollEvents: Int16 {
        var events: Int32 = 0
        if contains(.readable) { events |= Int32(POLLIN) }
        if contains(.writable) { events |= Int32(POLLOUT) }
        return Int16(events)
    }
}
