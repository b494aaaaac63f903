// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// What a transfer over a non-blocking socket gave.
package enum TransferResult: Sendable, Equatable {
    /// That many bytes went over; 0 from a receive is the end of the stream.
    case transferred(Int)
    /// Nothing can go over now.
    case wouldBlock
    /// The error number of what failed.
    case failed(Int32)
}

/// The system calls on stream sockets: retried when a signal interrupts them, never raising SIGPIPE, and with their
/// results as values.
package enum SystemCalls {
    #if os(Linux)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    private static let moreFlags = Int32(MSG_NOSIGNAL | MSG_MORE)
    #else
    private static let sendFlags: Int32 = 0
    private static let moreFlags: Int32 = 0
    #endif

    package static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        result {
            SystemCall.receive.move(buffer.count, on: descriptor) {
                unsafe Self.systemReceive(descriptor, buffer.baseAddress, $0)
            }
        }
    }

    /// Sends bytes.
    ///
    /// - Parameters:
    ///   - descriptor: of the socket.
    ///   - bytes: what is sent.
    ///   - isMoreComing: whether something is sent right behind them, for which the system may hold back a segment that
    ///     isn't full, for as much as 200 ms. Some systems don't.
    /// - Returns: what the call gave.
    package static func send(
        _ descriptor: Int32,
        _ bytes: UnsafeRawBufferPointer,
        isMoreComing: Bool = false
    ) -> TransferResult {
        let flags = isMoreComing ? moreFlags : sendFlags
        return result {
            SystemCall.send.move(bytes.count, on: descriptor) {
                unsafe Self.systemSend(descriptor, bytes.baseAddress, $0, flags)
            }
        }
    }

    /// Sends two pieces one after the other in one call.
    package static func send(
        _ descriptor: Int32,
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) -> TransferResult {
        result {
            SystemCall.send.move(first.count + second.count, on: descriptor) { count in
                let ofFirst = min(count, first.count)
                var pieces = unsafe (
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: ofFirst),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: count - ofFirst)
                )
                // A tuple of two C structs lies in memory as an array of two of them.
                return unsafe withUnsafeMutableBytes(of: &pieces) { raw in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = raw.baseAddress?.assumingMemoryBound(to: iovec.self)
                    unsafe message.msg_iovlen = 2
                    return unsafe sendmsg(descriptor, &message, sendFlags)
                }
            }
        }
    }

    /// The most pieces that go in one call: 64, of which every system takes far more (IOV_MAX).
    package static let pieceLimit = 64

    /// Sends pieces one after the other in one call; no more than ``pieceLimit``.
    package static func send(_ descriptor: Int32, _ pieces: [UnsafeRawBufferPointer]) -> TransferResult {
        let whole = unsafe pieces.reduce(0) { $0 + $1.count }
        return result {
            SystemCall.send.move(whole, on: descriptor) { count in
                var left = count
                var vectors = unsafe pieces.map { piece in
                    let length = min(left, piece.count)
                    left -= length
                    return unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: piece.baseAddress), iov_len: length)
                }
                return unsafe vectors.withUnsafeMutableBufferPointer { vectors in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = vectors.baseAddress
                    unsafe message.msg_iovlen = .init(vectors.count)
                    return unsafe sendmsg(descriptor, &message, sendFlags)
                }
            }
        }
    }

    private static func result(_ call: () -> Int) -> TransferResult {
        while true {
            let count = call()
            if count >= 0 { return .transferred(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            case let code: return .failed(code)
            }
        }
    }

    private static func systemReceive(_ descriptor: Int32, _ base: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if os(Linux)
        unsafe cduplex_receive(descriptor, base, count)
        #else
        unsafe recv(descriptor, base, count, 0)
        #endif
    }

    private static func systemSend(
        _ descriptor: Int32,
        _ base: UnsafeRawPointer?,
        _ count: Int,
        _ flags: Int32
    ) -> Int {
        #if os(Linux)
        unsafe cduplex_send(descriptor, base, count, flags)
        #else
        unsafe Darwin.send(descriptor, base, count, flags)
        #endif
    }

    // MARK: Making and ending sockets

    /// A new non-blocking stream socket that child processes don't inherit.
    package static func streamSocket(_ family: AddressFamily) throws(SocketError) -> Int32 {
        let descriptor = SystemCall.socket.make { NewSocket.make(family, .stream) }
        guard descriptor >= 0 else {
            throw .system("A socket could not be made.", errno: errno)
        }
        return descriptor
    }

    /// Starts connecting.
    ///
    /// - Returns: 0 when it is connected already, `EINPROGRESS`, or the error number.
    package static func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        unsafe address.withSystemAddress { pointer, length in
            #if canImport(Glibc)
            let code = SystemCall.connect.make(on: descriptor) { unsafe Glibc.connect(descriptor, pointer, length) }
            #else
            let code = SystemCall.connect.make(on: descriptor) { unsafe Darwin.connect(descriptor, pointer, length) }
            #endif
            // Interrupted or not, the attempt goes on by itself (connect(2)).
            return code == 0 ? 0 : (errno == EINTR ? EINPROGRESS : errno)
        }
    }

    /// What taking a connection from a listening socket gave.
    package enum AcceptResult: Sendable, Equatable {
        case accepted(Int32, SocketAddress?)
        /// There is no connection to take now.
        case none
        /// The connection was gone before it could be taken; there may be others.
        case aborted
        /// The process or the system has no descriptor or memory left.
        case exhausted(Int32)
        case failed(Int32)
    }

    package static func accept(_ descriptor: Int32) -> AcceptResult {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                SystemCall.accept.make(on: descriptor) {
                    unsafe NewSocket.accept(descriptor, address, &length)
                }
            }
        }
        if accepted >= 0 { return .accepted(accepted, SocketAddress(storage, length: length)) }
        switch errno {
        case EAGAIN, EWOULDBLOCK: return .none
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted(errno)
        case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, ENONET, EOPNOTSUPP,
            ENOPROTOOPT:
            // accept(2): errors of the new connection are handed over here; they say nothing about the listener.
            return .aborted
        case let code: return .failed(code)
        }
    }

    package static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #else
        _ = Darwin.close(descriptor)
        #endif
    }

    /// Closes a TCP socket that may listen; its copies stop listening, too.
    ///
    /// A process that is being started has one, and would take connections that nobody answers. It still holds the port, but
    /// not against others with `SO_REUSEADDR`, as all listeners here have it.
    static func stopListening(_ descriptor: Int32) {
        // ENOTCONN for a socket that doesn't listen, and for all of them on macOS.
        _ = SystemCall.shutdown.make(on: descriptor) { shutdown(descriptor, Int32(SHUT_RDWR)) }
        close(descriptor)
    }

    /// Says that nothing more will be written; the peer sees the end of the stream.
    package static func finishWriting(_ descriptor: Int32) {
        // It fails when the peer is gone, which the next receive reports.
        _ = SystemCall.shutdown.make(on: descriptor) { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    // MARK: Options

    package static func setOption(_ descriptor: Int32, level: Int32, name: Int32, _ value: Int32) -> Bool {
        var value = value
        let code = SystemCall.setOption.make(on: descriptor) {
            unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        return code == 0
    }

    /// Has the next close send a reset and drop what is queued.
    package static func setResetOnClose(_ descriptor: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = SystemCall.setOption.make(on: descriptor) {
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// The error that is pending on a socket; 0 when there is none.
    package static func pendingError(_ descriptor: Int32) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let code = SystemCall.getOption.make(on: descriptor) {
            unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &length)
        }
        return code == 0 ? value : errno
    }

    // MARK: Files and standard streams

    /// Writes all bytes of a range, for as long as that takes.
    ///
    /// - Parameters:
    ///   - descriptor: of a file or a stream; one that doesn't block is waited for, a second at a time.
    ///   - bytes: what is written is among them.
    ///   - range: where.
    /// - Returns: how many bytes were; fewer than there are when the system takes no more, and `errno` says why.
    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8], _ range: Range<Int>) -> Int {
        var position = range.lowerBound
        while position < range.upperBound {
            let count = unsafe bytes.withUnsafeBytes { raw in
                SystemCall.writeFile.move(range.upperBound - position, on: descriptor) { count in
                    unsafe write(descriptor, UnsafeRawBufferPointer(rebasing: raw[position..<(position + count)]))
                }
            }
            if count > 0 {
                position += count
            } else if count == 0 || errno != EINTR && !(errno == EAGAIN && waitToWrite(descriptor)) {
                break
            }
        }
        return position - range.lowerBound
    }

    private static func waitToWrite(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, 1_000) > 0
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Takes a file's name away; one that can't go stays.
    static func unlink(_ path: String) {
        #if canImport(Glibc)
        _ = SystemCall.unlink.make { unsafe Glibc.unlink(path) }
        #else
        _ = SystemCall.unlink.make { unsafe Darwin.unlink(path) }
        #endif
    }

    // MARK: What is in front of a receive

    /// What lies in front of a receive.
    enum PeekResult: Equatable {
        /// One byte at least.
        case bytes([UInt8])
        case none
        case ended
        case failed(Int32)
    }

    /// Looks at up to `count` bytes that have arrived, and leaves them.
    static func peek(_ descriptor: Int32, upTo count: Int) -> PeekResult {
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let arrived = unsafe bytes.withUnsafeMutableBytes { room in
                SystemCall.receive.move(count, on: descriptor) {
                    unsafe recv(descriptor, room.baseAddress, $0, Int32(MSG_PEEK))
                }
            }
            if arrived > 0 { return .bytes(Array(bytes.prefix(arrived))) }
            if arrived == 0 { return .ended }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .none
            case let code: return .failed(code)
            }
        }
    }

    /// Takes bytes that have been looked at, and forgets them.
    ///
    /// - Returns: whether they could be taken, all of them.
    static func discard(_ descriptor: Int32, _ count: Int) -> Bool {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBytes { unsafe receive(descriptor, into: $0) }
        return result == .transferred(count)
    }
}
