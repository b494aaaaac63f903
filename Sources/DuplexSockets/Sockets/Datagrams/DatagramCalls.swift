// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system calls on datagram sockets: retried when a signal interrupts them, never waiting, with their results as values.
package enum DatagramCalls {
    /// The most datagrams that go over in one call: 64.
    package static let batch = Int(CDUPLEX_DATAGRAM_BATCH)

    /// What receiving gave.
    package enum ReceiveResult: Sendable {
        /// At least one.
        case received([Datagram])
        /// There is nothing now.
        case wouldBlock
        /// The error number of what failed.
        case failed(Int32)
    }

    // MARK: Making and binding

    /// A new non-blocking datagram socket that child processes don't inherit.
    package static func socket(_ family: AddressFamily) throws(SocketError) -> Int32 {
        let descriptor = SystemCall.socket.make { NewSocket.make(family, .datagram) }
        guard descriptor >= 0 else {
            throw SocketError(.system, message: "A datagram socket could not be made.", errno: errno)
        }
        return descriptor
    }

    /// The address that a socket is bound to.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind``.
    package static func localAddress(of descriptor: Int32) throws(SocketError) -> SocketAddress {
        errno = 0
        if let address = SocketAddress.local(of: descriptor) { return address }
        throw SocketError(.cannotBind, message: "A datagram socket was bound but has no address.", errno: errno)
    }

    package static func bind(_ descriptor: Int32, to address: SocketAddress) throws(SocketError) {
        let code = unsafe address.withSystemAddress { pointer, length in
            #if canImport(Glibc)
            return SystemCall.bind.make(on: descriptor) { unsafe Glibc.bind(descriptor, pointer, length) }
            #else
            return SystemCall.bind.make(on: descriptor) { unsafe Darwin.bind(descriptor, pointer, length) }
            #endif
        }
        if code != 0 { throw SocketError(.cannotBind, message: "\(address) can't be bound.", errno: errno) }
    }

    // MARK: Receiving

    /// Receives what is there, without waiting.
    ///
    /// - Parameters:
    ///   - descriptor: a datagram socket.
    ///   - count: the most to take; fewer are, if they don't fit into the buffer.
    ///   - size: the room for each of them, at most that of the buffer.
    ///   - port: the socket's own port, for the addresses that they were sent to.
    ///   - buffer: where the system writes.
    /// - Returns: copies of what came.
    package static func receive(
        _ descriptor: Int32,
        upTo count: Int,
        size: Int,
        port: Int,
        in buffer: borrowing ReceiveBuffer
    ) -> ReceiveResult {
        unsafe buffer.lend { unsafe receive(descriptor, upTo: count, size: size, port: port, in: $0) }
    }

    private static func receive(
        _ descriptor: Int32,
        upTo count: Int,
        size: Int,
        port: Int,
        in buffer: UnsafeMutableRawBufferPointer
    ) -> ReceiveResult {
        let room = min(count, batch, buffer.count / size)
        var places = unsafe [cduplex_datagram](repeating: cduplex_datagram(), count: room)
        for index in 0..<room {
            unsafe places[index].bytes = buffer.baseAddress.map { unsafe $0 + index * size }
            unsafe places[index].count = size
        }
        while true {
            let received = SystemCall.receiveDatagrams.move(room, on: descriptor) {
                Int(unsafe cduplex_receive_datagrams(descriptor, &places, Int32($0)))
            }
            if received > 0 {
                return .received(unsafe places.prefix(received).map { unsafe datagram($0, port) })
            }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            case let code: return .failed(code)
            }
        }
    }

    private static func datagram(_ place: cduplex_datagram, _ port: Int) -> Datagram {
        let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: place.bytes, count: place.count))
        var datagram = Datagram(bytes)
        datagram.peer = unsafe SocketAddress(place.peer, length: place.peer_length)?.unmapped
        datagram.interface = unsafe place.interface
        datagram.localAddress = unsafe address(place.local, port, interface: place.interface)
        datagram.answerAddress = unsafe address(place.source, port, interface: place.interface)
        datagram.isTruncated = unsafe place.is_truncated
        return datagram
    }

    private static func address(_ ip: cduplex_ip, _ port: Int, interface: UInt32) -> SocketAddress? {
        guard ip.version != 0 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: ip.bytes) { unsafe [UInt8]($0.prefix(ip.version == 4 ? 4 : 16)) }
        // Those of a link, and groups of one, are distinguished by their interface (RFC 4007).
        let isOfLink = bytes.count == 16 && (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 || isGroupOfLink(bytes))
        return SocketAddress.ip(bytes, port: port, scope: isOfLink ? interface : 0).unmapped
    }

    private static func isGroupOfLink(_ bytes: [UInt8]) -> Bool {
        bytes[0] == 0xFF && (1...2).contains(bytes[1] & 0x0F)
    }

    // MARK: Sending

    /// Sends datagrams, without waiting, in one call as far as they go into one.
    ///
    /// - Parameters:
    ///   - datagrams: at least one.
    ///   - descriptor: a datagram socket.
    ///   - family: the family that it was made for.
    ///   - buffer: where the bytes of several are gathered.
    /// - Returns: how many were sent, at least one; or why the first wasn't.
    package static func send(
        _ datagrams: ArraySlice<Datagram>,
        _ descriptor: Int32,
        family: AddressFamily,
        in buffer: borrowing ReceiveBuffer
    ) -> TransferResult {
        unsafe buffer.lend { unsafe send(datagrams, descriptor, family: family, in: $0) }
    }

    private static func send(
        _ datagrams: ArraySlice<Datagram>,
        _ descriptor: Int32,
        family: AddressFamily,
        in buffer: UnsafeMutableRawBufferPointer
    ) -> TransferResult {
        guard let first = datagrams.first else { return .transferred(0) }
        var places: [cduplex_datagram] = unsafe []
        if datagrams.count == 1 || first.bytes.count > buffer.count {
            unsafe places.append(place(first, family))
            return unsafe first.bytes.withUnsafeBytes { bytes in
                unsafe places[0].bytes = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                return unsafe send(descriptor, &places)
            }
        }
        var used = 0
        for datagram in datagrams.prefix(batch) {
            guard datagram.bytes.count <= buffer.count - used else { break }
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[used...])
            unsafe room.copyBytes(from: datagram.bytes)
            var place = unsafe place(datagram, family)
            unsafe place.bytes = room.baseAddress
            unsafe places.append(place)
            used += datagram.bytes.count
        }
        return unsafe send(descriptor, &places)
    }

    private static func send(_ descriptor: Int32, _ places: inout [cduplex_datagram]) -> TransferResult {
        while true {
            let sent = SystemCall.sendDatagrams.move(unsafe places.count, on: descriptor) {
                Int(unsafe cduplex_send_datagrams(descriptor, places, Int32($0)))
            }
            if sent > 0 { return .transferred(sent) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            case let code: return .failed(code)
            }
        }
    }

    /// A place that says everything of a datagram but where its bytes are.
    private static func place(_ datagram: Datagram, _ family: AddressFamily) -> cduplex_datagram {
        var place = unsafe cduplex_datagram()
        unsafe place.count = datagram.bytes.count
        unsafe place.interface = datagram.interface
        if let peer = datagram.peer {
            let peer = family == .ipv6 ? peer.mapped : peer
            unsafe peer.withSystemAddress { pointer, length in
                unsafe withUnsafeMutableBytes(of: &place.peer) { target in
                    unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: Int(length)))
                }
                unsafe place.peer_length = length
            }
        }
        if let source = datagram.sourceAddress {
            let bytes = (family == .ipv6 ? source.mapped : source).bytes
            unsafe place.source.version = bytes.count == 4 ? 4 : 6
            unsafe withUnsafeMutableBytes(of: &place.source.bytes) { unsafe $0.copyBytes(from: bytes) }
        } else if datagram.interface != 0 {
            // The interface goes with an address, of which all zeros is any.
            unsafe place.source.version = family == .ipv6 && datagram.peer?.family != .ipv4 ? 6 : 4
        }
        return unsafe place
    }

    // MARK: What else there is

    /// Throws a message of the socket's queue of errors away.
    ///
    /// - Returns: whether there was one.
    package static func dropQueuedError(_ descriptor: Int32) -> Bool {
        cduplex_drop_queued_error(descriptor) == 0
    }

    /// Joins or leaves a group.
    ///
    /// - Returns: 0 or the error number.
    package static func setMembership(
        _ descriptor: Int32,
        joins: Bool,
        group: SocketAddress,
        source: SocketAddress?,
        interface: UInt32
    ) -> Int32 {
        let code = unsafe group.withSystemAddress { group, groupLength in
            guard let source else {
                return SystemCall.setOption.make(on: descriptor) {
                    unsafe cduplex_set_membership(descriptor, joins, interface, group, groupLength, nil, 0)
                }
            }
            return unsafe source.withSystemAddress { source, sourceLength in
                SystemCall.setOption.make(on: descriptor) {
                    unsafe cduplex_set_membership(
                        descriptor,
                        joins,
                        interface,
                        group,
                        groupLength,
                        source,
                        sourceLength
                    )
                }
            }
        }
        return code == 0 ? 0 : errno
    }

    /// Sets the interface that IPv4 multicast goes out by.
    ///
    /// - Returns: 0 or the error number.
    package static func setMulticastInterface4(_ descriptor: Int32, _ interface: UInt32) -> Int32 {
        let code = SystemCall.setOption.make(on: descriptor) {
            cduplex_set_multicast_interface4(descriptor, interface)
        }
        return code == 0 ? 0 : errno
    }
}
