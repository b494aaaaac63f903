// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a descriptor is watched for, or what it is ready for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes, an end of stream or a new connection can be taken.
    package static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    package static let writable = Readiness(rawValue: 2)
    /// The peer is gone or the descriptor has an error.
    ///
    /// Always watched for.
    package static let failed = Readiness(rawValue: 4)
}

/// What a poller reports about one descriptor.
package struct PollEvent: Sendable {
    package var token: UInt64
    package var readiness: Readiness
}

/// How long a poller waits.
package enum PollLimit: Sendable, Equatable {
    /// Not at all: it only looks.
    case now
    /// Until that instant.
    case until(Instant)
    /// Until something is ready.
    case never
}

/// Waits for descriptors to become ready; level-triggered.
///
/// One implementation for each system interface.
package protocol Poller: AnyObject {
    /// Watches a descriptor; `token` comes back with each of its events.
    func add(_ descriptor: Int32, token: UInt64, interest: Readiness) throws(SocketError)

    /// Replaces what a watched descriptor is watched for.
    func modify(_ descriptor: Int32, token: UInt64, interest: Readiness)

    /// Stops watching a descriptor. It must still be open.
    func remove(_ descriptor: Int32)

    /// Waits until something is ready, an instant has come, or a signal came, and replaces what is in `events`.
    ///
    /// May come back earlier, with nothing.
    ///
    /// - Parameters:
    ///   - limit: how long to wait at most.
    ///   - events: replaced by what is ready.
    func wait(_ limit: PollLimit, into events: inout [PollEvent])

    /// Gives the descriptors of the poller itself back.
    func close()
}

/// Chooses how event loops wait.
enum SystemPoller {
    /// The variable of the environment that chooses: `poll` for poll(2); the best of the system otherwise.
    static let variable = "DUPLEX_POLLER"

    /// A poller for one loop.
    static func make() throws(SocketError) -> any Poller {
        #if os(Linux)
        if !isPollWanted { return try EpollPoller() }
        #endif
        return PollPoller()
    }

    static let isPollWanted = EnvironmentVariables.value(of: variable) == "poll"
}
