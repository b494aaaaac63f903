// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// Looks names up as the other programs of the machine do: getaddrinfo(3), off the event loops.
///
/// The addresses come in the system's order of preference (RFC 6724). A look-up can't be interrupted, so each has a thread
/// of its own, and no more than 16 run at once in the whole process; the others wait. One that is cancelled returns at
/// once: if it still waits it is taken out of the queue, if it runs its answer is dropped when it comes. A name server
/// that doesn't answer keeps threads for as long as the system waits for it.
public struct SystemResolver: Resolver {
    private static let sharedThreads = BlockingThreads(name: "duplex-names", limit: 16)

    private let threads: BlockingThreads
    private let lookUp: @Sendable (String) -> Result<Resolution, SocketError>

    /// Makes a resolver; all of them share their threads.
    public init() {
        self.init(threads: Self.sharedThreads, lookUp: Self.ask)
    }

    /// Makes a resolver whose look-ups are others.
    init(threads: BlockingThreads, lookUp: @escaping @Sendable (String) -> Result<Resolution, SocketError>) {
        self.threads = threads
        self.lookUp = lookUp
    }

    /// Looks a host name up.
    ///
    /// - Parameter host: a name, or a literal address, which is not looked up.
    /// - Returns: the addresses, without a time to live: the system has none.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unknownHost``, ``SocketError/Code/nameServiceFailed`` or, when there
    ///   is no thread, ``SocketError/Code/system``; `CancellationError`.
    public func resolve(_ host: String) async throws -> Resolution {
        let lookUp = lookUp
        return try await threads.run { try lookUp(host).get() }
    }

    // MARK: Asking the system

    private static func ask(_ host: String) -> Result<Resolution, SocketError> {
        // What this name is for is that nobody needs to be asked (RFC 6761), not even where no name server answers.
        if HostNames.isNeverKnown(host) { return .failure(HostNames.neverKnown(host)) }
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
        guard code == 0 else { return .failure(error(code, errno, host)) }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let pointer = unsafe entry.pointee.ai_addr,
                let address = unsafe SocketAddress(pointer, length: entry.pointee.ai_addrlen)
            {
                if !addresses.contains(address) { addresses.append(address) }
            }
            unsafe next = entry.pointee.ai_next
        }
        if addresses.isEmpty { return .failure(HostNames.unknown(host, "neither IPv4 nor IPv6")) }
        return .success(Resolution(addresses))
    }

    // The errors that mean that there is no address, rather than that no server answered. The headers hide some of
    // these numbers.
    #if canImport(Glibc)
    private static let unknownCodes: Set<Int32> = [EAI_NONAME, -5, -9]
    #else
    private static let unknownCodes: Set<Int32> = [EAI_NONAME, EAI_NODATA, EAI_ADDRFAMILY]
    #endif

    private static func error(_ code: Int32, _ errno: Int32, _ host: String) -> SocketError {
        let reason = unsafe String(cString: gai_strerror(code))
        if unknownCodes.contains(code) { return HostNames.unknown(host, reason) }
        let message = "“\(host)” could not be looked up: \(reason)."
        return SocketError(.nameServiceFailed, message: message, errno: code == EAI_SYSTEM ? errno : nil)
    }
}
