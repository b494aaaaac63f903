// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Asks several resolvers, one after the other, until one has an answer.
///
/// Each has a time-out of its own, and after an error the next one is asked.
public struct ChainedResolver: Resolver {
    /// One resolver of a chain.
    package struct Link: Sendable {
        /// The errors after which the next resolver is asked.
        package struct Continuation: Sendable {
            fileprivate let goesOn: @Sendable (SocketError) -> Bool

            /// Every error: the next one may know what this one doesn't.
            package static let always = Continuation { _ in true }
            /// Every error but ``SocketError/Code/unknownHost``: an unknown host is final.
            package static let unlessUnknown = Continuation { $0.code != .unknownHost }

            /// Those for which a closure returns true.
            package static func when(_ goesOn: @escaping @Sendable (SocketError) -> Bool) -> Continuation {
                Continuation(goesOn: goesOn)
            }
        }

        /// The resolver.
        package var resolver: any Resolver
        /// How long it may take.
        ///
        /// Default: 5 s.
        ///
        /// After that it is abandoned, which is an error like others.
        package var timeout: Duration
        /// The errors after which the next resolver is asked.
        ///
        /// Default: all.
        package var continuation: Continuation

        /// Makes a link.
        ///
        /// - Parameters:
        ///   - resolver: the resolver.
        ///   - timeout: how long it may take.
        ///   - continuation: the errors after which the next resolver is asked.
        package init(
            _ resolver: any Resolver,
            timeout: Duration = .seconds(5),
            continuation: Continuation = .always
        ) {
            self.resolver = resolver
            self.timeout = timeout
            self.continuation = continuation
        }
    }

    private let links: [Link]

    /// Makes a chain.
    ///
    /// - Parameter links: in the order in which they are asked; a chain without any knows no name.
    package init(_ links: [Link]) {
        self.links = links
    }

    /// Makes a chain in which every error leads to the next resolver.
    ///
    /// - Parameters:
    ///   - resolvers: in the order in which they are asked.
    ///   - timeout: how long each of them may take.
    public init(_ resolvers: any Resolver..., timeout: Duration = .seconds(5)) {
        links = resolvers.map { Link($0, timeout: timeout) }
    }

    /// Looks a host name up.
    ///
    /// - Parameter host: a name.
    /// - Returns: the first answer.
    /// - Throws: ``SocketError`` with the error of each resolver that was asked as causes. It has
    ///   ``SocketError/Code/unknownHost`` when all of them, or the one that stopped the chain, said so, and else the code that
    ///   the others agree on, or ``SocketError/Code/nameServiceFailed``. `CancellationError`.
    public func resolve(_ host: String) async throws -> Resolution {
        try SocketError.check(links.map { DurationSetting("timeout", $0.timeout) })
        var causes: [SocketError] = []
        var isStopped = false
        for link in links where !isStopped {
            do {
                return try await ask(link, host)
            } catch {
                let error = try Self.cause(error)
                causes.append(error)
                isStopped = !link.continuation.goesOn(error)
            }
        }
        throw Self.summary(host, causes, isStopped: isStopped)
    }

    /// Passes it on to every resolver of the chain.
    public func connected(_ host: String, to address: SocketAddress) {
        for link in links { link.resolver.connected(host, to: address) }
    }

    private func ask(_ link: Link, _ host: String) async throws -> Resolution {
        let loop = EventLoopGroup.shared.next()
        return try await LookupDeadline.resolve(link.resolver, host, within: link.timeout, on: loop)
    }

    /// The error as a cause; thrown again when it is this look-up that was cancelled.
    private static func cause(_ error: any Error) throws -> SocketError {
        try Task.checkCancellation()
        return error as? SocketError ?? SocketError(.nameServiceFailed, message: "A resolver failed: \(error).")
    }

    private static func summary(_ host: String, _ causes: [SocketError], isStopped: Bool) -> SocketError {
        guard let last = causes.last else { return HostNames.unknown(host, "there is no resolver to ask") }
        var error = SocketError(.nameServiceFailed, message: "", causes: causes)
        if isStopped && last.code == .unknownHost {
            error.code = .unknownHost
            error.timeToLive = last.timeToLive
        } else {
            let failures = Set(causes.map(\.code)).subtracting([.unknownHost])
            if failures.count < 2 { error.code = failures.first ?? .unknownHost }
            let times = causes.compactMap(\.timeToLive)
            if failures.isEmpty && times.count == causes.count { error.timeToLive = times.min() }
        }
        error.message =
            error.code == .unknownHost
            ? "“\(host)” has no address that a resolver knows." : "“\(host)” could not be looked up."
        return error
    }
}
