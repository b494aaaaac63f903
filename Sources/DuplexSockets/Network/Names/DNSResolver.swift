// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Asks name servers itself, for programs that must not trust the system's answers (RFC 1035).
///
/// IPv6 and IPv4 addresses are asked for side by side, on an event loop, without a thread. Each question goes from a
/// UDP socket of its own, with a random identity and a random port, and only the answer of that server to that question
/// counts (RFC 5452); an answer that is too long for a datagram is fetched over TCP. After a server that doesn't
/// answer, or reports a failure, the next one is asked. Aliases are followed, search domains tried.
///
/// What a name server answers isn't signed: whoever is on the way to it can forge it. Answers aren't remembered either; put
/// a ``CachingResolver`` before it.
public struct DNSResolver: Resolver {
    /// What has happened so far.
    package struct Statistics: Sendable, Hashable {
        /// Questions that went out over UDP.
        package var datagrams = 0
        /// Questions for which a TCP connection was begun.
        package var streams = 0
        /// Answers that were too long for UDP.
        package var truncated = 0
        /// Datagrams that weren't the answer, by their identity or their question.
        ///
        /// Those that come from another address don't get as far as being counted: the system drops them. Many of these
        /// mean that somebody tries to forge answers; a question that has sixteen is asked again over TCP.
        package var ignored = 0
        /// Questions that a server didn't answer in time.
        package var timeouts = 0

        /// Nothing.
        package init() {}
    }

    /// Which name servers are asked, and how.
    package let configuration: ResolverConfiguration
    private let group: EventLoopGroup
    private let counters = NameServerCounters()

    /// Makes a resolver.
    ///
    /// - Parameters:
    ///   - configuration: which name servers are asked, and how; see ``ResolverConfiguration/system(path:)`` for those of the
    ///     system.
    ///   - group: the loops that look-ups run on.
    public init(_ configuration: ResolverConfiguration, on group: EventLoopGroup = .shared) {
        self.configuration = configuration
        self.group = group
    }

    /// Makes a resolver that asks certain name servers.
    ///
    /// - Parameters:
    ///   - servers: the addresses; where the port of one is 0, it is 53.
    ///   - group: the loops that look-ups run on.
    public init(servers: [SocketAddress], on group: EventLoopGroup = .shared) {
        self.init(ResolverConfiguration(servers: servers), on: group)
    }

    /// What this resolver has counted so far.
    package var statistics: Statistics {
        counters.statistics
    }

    /// Asks for the addresses of a host.
    ///
    /// `localhost` and what ends in it is this machine, without a question (RFC 6761). Cancelling ends it at once; what was
    /// open is closed.
    ///
    /// - Parameter host: a name of ASCII letters, digits, hyphens and underscores; one that ends in a dot is complete, others
    ///   are tried in the search domains, too.
    /// - Returns: the addresses, the preferred kind first, with the shortest time to live of the records that led to them.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unknownHost`` when the servers say that there is no address,
    ///   or the name can't be one; with ``SocketError/Code/nameServiceFailed`` and the error of each question as causes
    ///   when they did not answer; with ``SocketError/Code/loopStopped``. `CancellationError`.
    public func resolve(_ host: String) async throws -> Resolution {
        try Task.checkCancellation()
        try SocketError.check(configuration.durations)
        if let local = HostNames.localAnswer(host) { return try sorted(local.get(), host) }
        let names = try configuration.candidates(host)
        let operation = Operation(loop: group.next())
        return try await operation.run { [configuration, counters] core, completion in
            HostLookup(host, names, configuration, core: core, counters: counters, completion: completion)
        }
    }

    /// The addresses of this machine, of the kinds that are wanted, in their order.
    private func sorted(_ local: Resolution, _ host: String) throws(SocketError) -> Resolution {
        let addresses = configuration.order.types.flatMap { type in
            local.addresses.filter { $0.isIPv6 == (type == .ipv6) }
        }
        if addresses.isEmpty { throw HostNames.unknown(host, "no kind of address is wanted") }
        return Resolution(addresses)
    }
}

/// One look-up on its loop, and the task that waits for it.
private final class Operation: Sendable {
    private let loop: EventLoop
    private let pending = PendingResult<Resolution>()
    /// Changed on the loop only; the lock is for the compiler.
    private let lookup = Mutex<LoopBound<HostLookup>?>(nil)

    init(loop: EventLoop) {
        self.loop = loop
    }

    func run(
        _ make: @escaping @Sendable (LoopCore, @escaping (Result<Resolution, SocketError>) -> Void) -> HostLookup
    ) async throws -> Resolution {
        loop.execute { [self] core in
            let made = make(core) { [self] result in
                lookup.withLock { $0 = nil }
                pending.finish(result)
            }
            let bound = LoopBound(made, on: loop.thread)
            lookup.withLock { $0 = bound }
            made.start()
        }
        return try await pending.value { [self] in
            // Behind the start, as the loop keeps the order. The wait ends when everything is closed.
            loop.execute { [self] _ in
                let bound = lookup.withLock { $0.take() }
                bound?.value.cancel()
                pending.finish(Result<Resolution, any Error>.failure(CancellationError()))
            }
        }
    }
}

/// What the look-ups of one resolver have counted together.
final class NameServerCounters: Sendable {
    private let values = Mutex(DNSResolver.Statistics())

    var statistics: DNSResolver.Statistics {
        values.withLock { $0 }
    }

    func count(_ change: (inout DNSResolver.Statistics) -> Void) {
        values.withLock { change(&$0) }
    }
}
