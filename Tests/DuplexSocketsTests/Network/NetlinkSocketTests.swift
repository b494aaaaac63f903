// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Glibc
import Testing

@testable import DuplexSockets

@Suite("The socket that the kernel speaks to")
struct NetlinkSocketTests {
    /// All messages until the end of a list.
    private func list(_ request: NetworkTracker.Request, _ descriptor: Int32) throws -> [NetlinkMessage] {
        try #require(NetlinkSocket.ask(request, descriptor))
        var all: [NetlinkMessage] = []
        while !all.contains(where: { $0.sequence != 0 && $0.content == .done }) {
            try #require(Descriptors.isReady(descriptor, for: POLLIN))
            guard case .bytes(let bytes) = NetlinkSocket.receive(descriptor) else { continue }
            let (messages, isWhole) = NetlinkParser.messages(in: bytes, port: NetlinkSocket.port(descriptor))
            #expect(isWhole)
            all += messages
        }
        return all
    }

    @Test("The kernel lists the interfaces and addresses that the system tells of by other ways, too")
    func lists() throws {
        let descriptor = try NetlinkSocket.open()
        defer { SystemCalls.close(descriptor) }
        let links = try list(.links(5), descriptor).filter { $0.sequence == 5 }
        let index = try NetworkInterface.index(of: "lo")
        #expect(
            links.contains { message in
                if case .link(index, "lo", _) = message.content { true } else { false }
            }
        )
        let addresses = try list(.addresses(6), descriptor).filter { $0.sequence == 6 }
        let known = (try? NetworkInterface.addresses(of: "lo")) ?? []
        for address in known where !address.isIPv6 {
            #expect(
                addresses.contains { message in
                    if case .address(index, address.bytes, true, _) = message.content { true } else { false }
                }
            )
        }
    }

    @Test("It isn't inherited, and doesn't block")
    func flags() throws {
        let descriptor = try NetlinkSocket.open()
        defer { SystemCalls.close(descriptor) }
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
    }

    @Test("A descriptor that is none fails, and so does asking there")
    func closed() {
        guard case .failed(EBADF) = NetlinkSocket.receive(-1) else {
            Issue.record("receiving from -1 has another end")
            return
        }
        #expect(!NetlinkSocket.ask(.links(1), -1))
    }
}
#endif
