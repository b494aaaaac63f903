// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct DatagramCallsTests: ~Copyable {
    private let buffer = ReceiveBuffer()

    /// A socket on the loopback, and its address.
    private func bound(_ host: String) throws -> (descriptor: Int32, address: SocketAddress) {
        let address = try SocketAddress(host, port: 0)
        let descriptor = try DatagramCalls.socket(address.family)
        try DatagramCalls.bind(descriptor, to: address)
        return (descriptor, try #require(SocketAddress.local(of: descriptor)))
    }

    private func receive(_ descriptor: Int32, upTo count: Int = 1, size: Int = 100) -> [Datagram]? {
        let result = DatagramCalls.receive(descriptor, upTo: count, size: size, port: 7, in: buffer)
        guard case .received(let datagrams) = result else { return nil }
        return datagrams
    }

    @Test("A new socket doesn't block and isn't inherited", arguments: [AddressFamily.ipv4, .ipv6])
    func flags(family: AddressFamily) throws {
        let descriptor = try DatagramCalls.socket(family)
        defer { SystemCalls.close(descriptor) }
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        guard case .wouldBlock = DatagramCalls.receive(descriptor, upTo: 1, size: 1, port: 0, in: buffer) else {
            Issue.record("There is something to receive.")
            return
        }
    }

    @Test("Datagrams go over in batches, no more than asked for", arguments: ["127.0.0.1", "::1"])
    func batches(host: String) throws {
        let (near, far) = (try bound(host), try bound(host))
        defer { for descriptor in [near.descriptor, far.descriptor] { SystemCalls.close(descriptor) } }
        let batch = (0..<100).map { Datagram([UInt8](repeating: UInt8($0), count: $0), to: far.address) }
        let sent = DatagramCalls.send(batch[...], near.descriptor, family: far.address.family, in: buffer)
        #expect(sent == .transferred(DatagramCalls.batch))
        let some = try #require(receive(far.descriptor, upTo: 3))
        #expect(some.map(\.bytes) == batch[..<3].map(\.bytes))
        #expect(some.allSatisfy { $0.peer == near.address })
        #expect(receive(far.descriptor, upTo: 1_000)?.map(\.bytes) == batch[3..<DatagramCalls.batch].map(\.bytes))
        #expect(receive(far.descriptor) == nil)
    }

    @Test("As many are received at once as there is room for")
    func roomForSome() throws {
        let (near, far) = (try bound("127.0.0.1"), try bound("127.0.0.1"))
        defer { for descriptor in [near.descriptor, far.descriptor] { SystemCalls.close(descriptor) } }
        let batch = (0..<12).map { Datagram([UInt8($0)], to: far.address) }
        #expect(DatagramCalls.send(batch[...], near.descriptor, family: .ipv4, in: buffer) == .transferred(12))
        let received = try #require(receive(far.descriptor, upTo: 12, size: 65_535))
        #expect(received.count == ReceiveBuffer.size / 65_535)
    }

    @Test("Where it was sent to is said, on request, with the port of the socket")
    func packetInformation() throws {
        let (near, far) = (try bound("127.0.0.1"), try bound("0.0.0.0"))
        defer { for descriptor in [near.descriptor, far.descriptor] { SystemCalls.close(descriptor) } }
        var there = far.address
        for isOn in [false, true] {
            try SystemOption.packetInfo4.set(isOn, on: far.descriptor)
            there = try SocketAddress("127.0.0.5", port: there.port)
            _ = DatagramCalls.send([Datagram([1], to: there)], near.descriptor, family: .ipv4, in: buffer)
            let datagram = try #require(receive(far.descriptor)?.first)
            #expect(datagram.localAddress?.description == (isOn ? "127.0.0.5:7" : nil))
            #expect((datagram.interface != 0) == isOn)
        }
    }

    @Test("What fails has its number, and nothing is sent")
    func failures() throws {
        let near = try bound("127.0.0.1")
        defer { SystemCalls.close(near.descriptor) }
        let address = near.address
        let nowhere = DatagramCalls.send([Datagram([1])], near.descriptor, family: .ipv4, in: buffer)
        #expect(nowhere == .failed(EDESTADDRREQ))
        let large = Datagram([UInt8](repeating: 0, count: 65_508), to: address)
        #expect(DatagramCalls.send([large], near.descriptor, family: .ipv4, in: buffer) == .failed(EMSGSIZE))
        // One that doesn't even fit into the buffer, at the head of several.
        let huge = Datagram([UInt8](repeating: 0, count: ReceiveBuffer.size + 1), to: address)
        #expect(DatagramCalls.send([huge, large], near.descriptor, family: .ipv4, in: buffer) == .failed(EMSGSIZE))
        #expect(DatagramCalls.send([], near.descriptor, family: .ipv4, in: buffer) == .transferred(0))
        #expect(receive(near.descriptor) == nil)
        let closed = DatagramCalls.receive(-1, upTo: 1, size: 1, port: 0, in: buffer)
        guard case .failed(EBADF) = closed else {
            Issue.record("A descriptor that isn't one gave \(closed).")
            return
        }
        #expect(socketError { try DatagramCalls.bind(near.descriptor, to: address) }?.code == .cannotBind)
    }

    @Test("An error in the queue of a socket that asked for one can be thrown away")
    func queuedErrors() throws {
        let (near, far) = (try bound("127.0.0.1"), try bound("127.0.0.1"))
        defer { SystemCalls.close(near.descriptor) }
        SystemCalls.close(far.descriptor)
        #expect(!DatagramCalls.dropQueuedError(near.descriptor))
        #expect(SystemCalls.setOption(near.descriptor, level: Int32(IPPROTO_IP), name: IP_RECVERR, 1))
        // Port 9 discards, where there is such a service at all.
        let nobody = Datagram([1], to: try SocketAddress("127.0.0.1", port: 9))
        _ = DatagramCalls.send([nobody], near.descriptor, family: .ipv4, in: buffer)
        #expect(Descriptors.isReady(near.descriptor, for: 0))
        #expect(DatagramCalls.dropQueuedError(near.descriptor))
        #expect(!DatagramCalls.dropQueuedError(near.descriptor))
    }
}
