// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs the body with a port of 127.0.0.1 that nobody listens on.
///
/// It is held by a socket that doesn't listen, so that the system chooses it for nobody else; but whoever asks for just
/// this port may listen on it, as every listener of ours allows (`SO_REUSEADDR`). A port that was only free a moment ago
/// may be another's by now.
@discardableResult
package func withReservedPort<Result>(_ body: (SocketAddress) async throws -> Result) async throws -> Result {
    #if canImport(Glibc)
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    defer { close(descriptor) }
    var isReused: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    let isSet = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, size) == 0
    var wanted = sockaddr_in()
    wanted.sin_family = sa_family_t(AF_INET)
    wanted.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let isBound = unsafe withUnsafePointer(to: &wanted) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            unsafe bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    guard isSet, isBound, let address = SocketAddress.local(of: descriptor) else {
        throw SocketError(.cannotBind, message: "No port could be reserved.", errno: errno)
    }
    return try await body(address)
}
