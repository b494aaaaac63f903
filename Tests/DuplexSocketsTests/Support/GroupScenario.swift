// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Testing

@testable import DuplexSockets

/// What groups must do, wherever they are; what must not arrive is followed by a datagram that must.
struct GroupScenario: Sendable {
    var families: AddressFamilies
    var group: String
    var interface: String
    /// The address that datagrams to the group come from.
    var source: String
    /// One of the same family that they don't come from.
    var stranger: String

    /// The namespace that it happens in; that of the tests if `nil`.
    typealias Place = NamespacedLoop?

    private func bind(
        in place: Place,
        _ host: LocalHost = .any,
        _ sharing: UDPSocket.Sharing = .none,
        port: Int = 0,
        options: DatagramOptions = DatagramOptions()
    ) async throws -> UDPSocket {
        guard let place else {
            return try await UDPSocket.bind(host, port: port, families: families, sharing: sharing, options: options)
        }
        return try await place.bind(host, port: port, families: families, sharing: sharing, options: options)
    }

    /// Lets a socket do something where the interface is.
    private func act(
        _ socket: isolated UDPSocket,
        in place: Place,
        _ body: @Sendable (isolated UDPSocket) throws -> Void
    ) throws {
        if let place { try place.run(on: socket, body) } else { try body(socket) }
    }

    private func join(
        _ socket: UDPSocket,
        in place: Place,
        _ group: String? = nil,
        from source: String? = nil
    ) async throws {
        try await act(socket, in: place) { try $0.join(group ?? self.group, from: source, on: interface) }
    }

    private func leave(_ socket: UDPSocket, in place: Place, from source: String? = nil) async throws {
        try await act(socket, in: place) { try $0.leave(group, from: source, on: interface) }
    }

    /// A receiver that isn't a member yet, a sender to groups, the address of the group, and one of the receiver's own.
    private func withSockets(
        in place: Place,
        _ body: (UDPSocket, UDPSocket, SocketAddress, SocketAddress) async throws -> Void
    ) async throws {
        // A port of its own: among those who share, the system would choose one that another test has.
        let holder = try await bind(in: place)
        let port = holder.localAddress.port
        // It is told apart from the receiver, also where it lives on for a moment: a process that is just being started has
        // a copy of every descriptor.
        let elsewhere = try SocketAddress(holder.localAddress.isIPv6 ? "::1" : "127.0.0.1", port: 9)
        try await holder.withDescriptor { descriptor in
            try SystemOption.reusedAddress.set(true, on: descriptor)
            _ = SystemCalls.connect(descriptor, to: elsewhere)
        }
        let receiver = try await bind(in: place, .any, .address, port: port)
        await holder.close()
        var options = DatagramOptions()
        options.multicastInterface = interface
        let sender = try await bind(in: place, .address(source), options: options)
        let address = try SocketAddress(group, port: port)
        let marker = try SocketAddress(address.isIPv6 ? "::1" : "127.0.0.1", port: port)
        try await body(receiver, sender, address, marker)
        await receiver.close()
        await sender.close()
    }

    private func next(_ socket: UDPSocket) async throws -> [UInt8] {
        try await socket.receive(timeout: .limit(seconds: 10)).bytes
    }

    /// A member gets what is sent to its group, until it leaves.
    func joinAndLeave(in place: Place = nil) async throws {
        try await withSockets(in: place) { receiver, sender, group, marker in
            try await sender.send([1], to: group)
            try await join(receiver, in: place)
            try await sender.send([2], to: group)
            let datagram = try await receiver.receive(timeout: .limit(seconds: 10))
            #expect(datagram.bytes == [2])
            #expect(datagram.peer?.host == source)
            #expect(datagram.localAddress?.bytes == group.bytes)
            #expect(datagram.interface > 0)
            try await receiver.send(datagram.reply([7]))
            #expect(try await next(sender) == [7])
            try await leave(receiver, in: place)
            try await sender.send([3], to: group)
            try await sender.send([4], to: marker)
            #expect(try await next(receiver) == [4])
        }
    }

    /// A socket gets nothing of a group that another one has joined on the same port.
    func othersGroup(in place: Place = nil) async throws {
        try await withSockets(in: place) { receiver, sender, group, _ in
            let member = try await bind(in: place, .any, .address, port: group.port)
            try await join(member, in: place)
            // What is sent to one address could come to either.
            let own = try SocketAddress(group.isIPv6 ? "ff15::7777" : "239.7.7.7", port: group.port)
            try await join(receiver, in: place, own.host)
            try await sender.send([1], to: group)
            try await sender.send([2], to: own)
            #expect(try await next(member) == [1])
            #expect(try await next(receiver) == [2])
            await member.close()
        }
    }

    /// Several on one port each get all that is sent to their group.
    func sharedPort(in place: Place = nil) async throws {
        try await withSockets(in: place) { receiver, sender, group, _ in
            let other = try await bind(in: place, .any, .address, port: group.port)
            for socket in [receiver, other] { try await join(socket, in: place) }
            try await sender.send([5], to: group)
            for socket in [receiver, other] { #expect(try await next(socket) == [5]) }
            await other.close()
        }
    }

    /// A member of one source gets nothing of another one, and leaves it again.
    func oneSource(in place: Place = nil) async throws {
        try await withSockets(in: place) { receiver, sender, group, marker in
            try await join(receiver, in: place, from: stranger)
            try await sender.send([1], to: group)
            try await sender.send([2], to: marker)
            #expect(try await next(receiver) == [2])
            try await join(receiver, in: place, from: source)
            try await sender.send([3], to: group)
            #expect(try await next(receiver) == [3])
            try await leave(receiver, in: place, from: source)
            try await sender.send([4], to: group)
            try await sender.send([5], to: marker)
            #expect(try await next(receiver) == [5])
            try await leave(receiver, in: place, from: stranger)
        }
    }

    /// Without loopback nobody on this machine gets what it sends to a group.
    ///
    /// Not on the loopback interface itself, which brings everything back.
    func noLoopback(in place: Place = nil) async throws {
        try await withSockets(in: place) { receiver, sender, group, marker in
            try await join(receiver, in: place)
            for isOn in [false, true, false] {
                var options = DatagramOptions()
                options.multicastLoopback = isOn
                try await sender.setOptions(options)
                try await sender.send([1], to: group)
                try await sender.send([2], to: marker)
                if isOn { #expect(try await next(receiver) == [1]) }
                #expect(try await next(receiver) == [2])
            }
        }
    }
}
