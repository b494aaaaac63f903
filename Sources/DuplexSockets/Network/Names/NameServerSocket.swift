// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// The system calls that a question to a name server needs beside those on streams.
enum NameServerSocket {
    /// A new non-blocking UDP socket that takes datagrams of one server only.
    ///
    /// It gets a port of its own, which the system chooses at random from those that it has for this (RFC 6056), so that who
    /// can't see the question doesn't know where to send a forged answer (RFC 5452 section 9.2).
    ///
    /// - Parameter server: where questions go, and answers come from; the system drops all others.
    /// - Returns: the descriptor.
    /// - Throws: ``SocketError`` when there is no descriptor, or no way to the server.
    static func datagram(to server: SocketAddress) throws(SocketError) -> Int32 {
        let descriptor = NewSocket.make(server.family, .datagram)
        guard descriptor >= 0 else {
            throw SocketError(.system, message: "A socket could not be made.", errno: errno)
        }
        let code = SystemCalls.connect(descriptor, to: server)
        guard code == 0 else {
            SystemCalls.close(descriptor)
            throw SocketError(.cannotConnect, message: "The name server \(server) can't be reached.", errno: code)
        }
        return descriptor
    }

    /// Sends what is left of a message.
    static func send(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> TransferResult {
        unsafe bytes.withUnsafeBytes { unsafe SystemCalls.send(descriptor, $0) }
    }
}
