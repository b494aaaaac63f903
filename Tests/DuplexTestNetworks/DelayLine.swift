// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import Glibc

/// A cable on which every packet is on its way for a time, either way: two interfaces, each of which gets what the other sent.
///
/// Made of two tun devices and a thread between them, since not every kernel has a queue that delays.
final class DelayLine: Sendable {
    /// The name of the far interface; to be moved to where it belongs.
    let far: String
    private let delay: Duration
    /// Written to for an end.
    private let leash: Int32

    /// A packet on its way.
    private struct Packet {
        let due: Instant
        let destination: Int32
        let bytes: [UInt8]
    }

    /// Makes the two interfaces.
    init(_ delay: Duration, near: String, far: String) throws {
        self.far = far
        self.delay = delay
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Shell.Failure(description: "errno \(errno)")
        }
        leash = ends[0]
        var descriptors = [ends[1]]
        do {
            for name in [near, far] { descriptors.append(try Self.device(name)) }
            try LoopThread(name: "duplex-line").start { [delay, descriptors] in
                Self.run(descriptors[1], descriptors[2], descriptors[0], delay)
                for descriptor in descriptors { SystemCalls.close(descriptor) }
            }
        } catch {
            // The leash is closed by the end of this object.
            for descriptor in descriptors { SystemCalls.close(descriptor) }
            throw error
        }
    }

    deinit {
        SystemCalls.close(leash)
    }

    /// Ends the interfaces.
    func stop() {
        SystemCalls.finishWriting(leash)
    }

    /// Makes a tun device (the kernel's networking/tuntap.rst), which is there for as long as its descriptor is open.
    private static func device(_ name: String) throws -> Int32 {
        let descriptor = unsafe open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Shell.Failure(description: "/dev/net/tun: errno \(errno)") }
        // struct ifreq: 16 bytes of name, then the flags IFF_TUN and IFF_NO_PI.
        var request = [UInt8](repeating: 0, count: 40)
        for (index, byte) in name.utf8.prefix(15).enumerated() { request[index] = byte }
        (request[16], request[17]) = (0x01, 0x10)
        let setInterface: UInt = 0x4004_54CA
        let code = unsafe request.withUnsafeMutableBytes { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return -1 }
            return unsafe ioctl(descriptor, setInterface, base)
        }
        guard code == 0 else {
            defer { SystemCalls.close(descriptor) }
            throw Shell.Failure(description: "\(name): errno \(errno)")
        }
        return descriptor
    }

    /// Carries packets until the leash is let go.
    private static func run(_ near: Int32, _ far: Int32, _ leash: Int32, _ delay: Duration) {
        var packets: [Packet] = []
        while true {
            var timeout: Int32 = -1
            if let next = packets.first {
                timeout = Int32(max(0, (Instant.now().duration(to: next.due) / .milliseconds(1)).rounded(.up)))
            }
            var entries = [near, far, leash].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = unsafe poll(&entries, 3, timeout)
            if entries[2].revents != 0 { return }
            for (source, destination) in [(near, far), (far, near)] {
                while let bytes = packet(source) {
                    let due = Instant.now().advanced(by: delay)
                    packets.append(Packet(due: due, destination: destination, bytes: bytes))
                }
            }
            let now = Instant.now()
            while let packet = packets.first, packet.due <= now {
                packets.removeFirst()
                // A packet for an interface that is down is lost, as on any cable.
                _ = unsafe write(packet.destination, packet.bytes, packet.bytes.count)
            }
        }
    }

    /// The next packet that an interface sends; `nil` for none.
    private static func packet(_ device: Int32) -> [UInt8]? {
        let limit = 65_536
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = unsafe max(0, read(device, buffer.baseAddress, limit))
        }
        return bytes.isEmpty ? nil : bytes
    }
}
#endif
