// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

    static let isPollWanted = unsafe getenv(variable).map { unsafe String(cString: $0) } == "poll"
}
