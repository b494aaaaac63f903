// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc

/// A TCP connection by plain blocking system calls: what attacks the server must not depend on what it attacks.
///
/// Every call ends within ``patience``.
struct RawConnection: ~Copyable {
    /// How a connection came to its end.
    enum End {
        /// The peer ended it, in order or by a reset.
        case closed
        /// The peer left it open for too long.
        case open
    }

    /// A system call that failed.
    struct Failed: Error {
        let call: String
        let code: Int32
    }

    private static let patience = 30
    private let descriptor: Int32

    /// Connects to a port of this machine.
    ///
    /// - Parameters:
    ///   - port: the port.
    ///   - source: the last byte of the address to connect from, 127.0.0.x: each has ports of its own, of which a single
    ///     address would run out.
    /// - Throws: ``Failed``.
    init(port: UInt16, source: UInt8) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(call: "socket", code: errno) }
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        try unsafe perform("bind", bind, address: [127, 0, 0, source], port: 0)
        try unsafe perform("connect", connect, address: [127, 0, 0, 1], port: port)
    }

    deinit {
        close(descriptor)
    }

    private typealias AddressCall = (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32

    private func perform(_ name: String, _ call: AddressCall, address: [UInt8], port: UInt16) throws {
        var value = sockaddr_in()
        value.sin_family = sa_family_t(AF_INET)
        value.sin_port = port.bigEndian
        unsafe withUnsafeMutableBytes(of: &value.sin_addr) { unsafe $0.copyBytes(from: address) }
        let code = unsafe withUnsafePointer(to: &value) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code != 0 { throw Failed(call: name, code: errno) }
    }

    /// Sends the bytes, or as many of them as the peer takes.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Receives once.
    ///
    /// - Returns: the bytes; none at the end of the stream; `nil` when nothing came in time.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 && errno == EAGAIN { return nil }
        return Array(buffer.prefix(max(count, 0)))
    }

    /// Sends as much of the bytes as the peer takes within a quarter of a second.
    ///
    /// - Returns: how many were taken.
    func sendWhileTaken(_ bytes: [UInt8]) -> Int {
        var rest = bytes[...]
        var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while !rest.isEmpty {
            guard unsafe poll(&event, 1, 250) > 0 else { break }
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count <= 0 && errno != EAGAIN { break }
            rest = rest.dropFirst(max(count, 0))
        }
        return bytes.count - rest.count
    }

    /// Receives until the peer ends the connection, or stays silent for too long.
    ///
    /// - Returns: what came.
    func receiveToEnd() -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = receive(), !bytes.isEmpty { all += bytes }
        return all
    }

    /// Ends the outgoing stream and waits until the peer ends its own.
    func finish() -> End {
        shutdown(descriptor, Int32(SHUT_WR))
        while let bytes = receive() {
            if bytes.isEmpty { return .closed }
        }
        return .open
    }

    /// Ends both streams; the descriptor stays.
    func leave() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Has the connection reset when it is closed.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

/// Connections can't be copied, and arrays hold only what can.
final class SharedConnection: Sendable {
    let value: RawConnection

    init(_ value: consuming RawConnection) {
        self.value = value
    }
}
#endif
