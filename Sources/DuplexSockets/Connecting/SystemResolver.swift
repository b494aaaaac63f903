// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Looks names up with the system's resolver, off the event loops.
///
/// getaddrinfo(3) blocks and can't be interrupted, so each look-up has a thread of its own, and no more than 16 run at
/// once. Whoever gives up on one leaves it behind: its answer is dropped when it comes.
package enum SystemResolver {
    private static let lookupsAtOnce = 16
    private static let state = Mutex(State())

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    /// All addresses of a host, in the system's order of preference (RFC 6724).
    ///
    /// A literal address is not looked up.
    ///
    /// - Parameters:
    ///   - host: a name or a literal address.
    ///   - port: the port that the addresses get.
    ///   - completion: called once, on a thread of the resolver's.
    package static func resolve(
        _ host: String,
        port: Int,
        completion: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {
        let lookup: @Sendable () -> Void = {
            start {
                completion(lookUp(host, port: port))
                finished()
            } onFailure: { error in
                completion(.failure(error))
                finished()
            }
        }
        let mayStart = state.withLock { state -> Bool in
            if state.running < lookupsAtOnce {
                state.running += 1
                return true
            }
            state.waiting.append(lookup)
            return false
        }
        if mayStart { lookup() }
    }

    private static func start(
        _ body: @escaping @Sendable () -> Void,
        onFailure: (SocketError) -> Void
    ) {
        do {
            try LoopThread(name: "duplex-names").start(body)
        } catch {
            onFailure(error)
        }
    }

    /// Gives the place of a look-up to the next one that waits.
    private static func finished() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?()
    }

    private static func lookUp(_ host: String, port: Int) -> Result<[SocketAddress], SocketError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        unsafe hints.ai_socktype = SOCK_STREAM
        #endif
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = SystemCall.lookUp.number { unsafe getaddrinfo(host, nil, &hints, &list) }
        guard code == 0 else { return .failure(error(code, host)) }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let pointer = unsafe entry.pointee.ai_addr,
                var address = unsafe SocketAddress(pointer, length: entry.pointee.ai_addrlen)
            {
                address.port = port
                if !addresses.contains(address) { addresses.append(address) }
            }
            unsafe next = entry.pointee.ai_next
        }
        if addresses.isEmpty {
            return .failure(SocketError(.unknownHost, message: "“\(host)” has no IPv4 or IPv6 address."))
        }
        return .success(addresses)
    }

    private static func error(_ code: Int32, _ host: String) -> SocketError {
        let reason = unsafe String(cString: gai_strerror(code))
        return SocketError(.unknownHost, message: "“\(host)” could not be looked up: \(reason).")
    }
}
