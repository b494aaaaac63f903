// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// The socket for the kernel's changes of its network, where there is one.
enum NetlinkSocket {
    /// What one receive brought.
    enum Received {
        case bytes([UInt8])
        /// Nothing is there.
        case nothing
        /// The kernel had more to say than the socket holds.
        case overrun
        case failed(Int32)
    }

    /// The longest datagram that is taken; the kernel's lists come in pieces of 32 KiB at most.
    private static let sizeLimit = 65_536

    /// Opens one that receives all changes.
    ///
    /// - Returns: its descriptor, non-blocking.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system``, also where the system has no netlink.
    static func open() throws(SocketError) -> Int32 {
        #if os(Linux)
        let descriptor = SystemCall.openNetlink.make { cduplex_netlink_open() }
        if descriptor >= 0 { return descriptor }
        throw SocketError(.system, message: "Changes of the network can't be watched.", errno: errno)
        #else
        let message = "Changes of the network can't be watched on this system yet."
        throw SocketError(.system, message: message, errno: ENOTSUP)
        #endif
    }

    /// The number by which the kernel knows a socket, and which its answers have.
    static func port(_ descriptor: Int32) -> UInt32 {
        #if os(Linux)
        cduplex_netlink_port(descriptor)
        #else
        0
        #endif
    }

    /// Asks for a list.
    ///
    /// - Returns: whether the question went out.
    static func ask(_ request: NetworkTracker.Request, _ descriptor: Int32) -> Bool {
        #if os(Linux)
        let (type, sequence): (UInt16, UInt32) =
            switch request {
            case .links(let sequence): (18, sequence)
            case .addresses(let sequence): (22, sequence)
            }
        return SystemCall.askNetlink.make(on: descriptor) { cduplex_netlink_ask(descriptor, type, sequence) } == 0
        #else
        return false
        #endif
    }

    /// Receives a datagram, without waiting.
    static func receive(_ descriptor: Int32) -> Received {
        #if os(Linux)
        while true {
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: sizeLimit) { buffer, initialized in
                count = SystemCall.receiveNetlink.move(sizeLimit, on: descriptor) {
                    unsafe cduplex_netlink_receive(descriptor, buffer.baseAddress, $0)
                }
                initialized = max(0, count)
            }
            if count > 0 { return .bytes(bytes) }
            // What somebody else than the kernel has sent doesn't count.
            if count == 0 { continue }
            switch errno {
            case EAGAIN: return .nothing
            case ENOBUFS: return .overrun
            case let code: return .failed(code)
            }
        }
        #else
        return .failed(ENOTSUP)
        #endif
    }
}
