// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct SystemOptionTests {
    private static func withSocket(_ family: AddressFamily = .ipv4, _ body: (Int32) throws -> Void) throws {
        let descriptor = try SystemCalls.streamSocket(family)
        defer { SystemCalls.close(descriptor) }
        try body(descriptor)
    }

    @Test("A number is read back as it was set")
    func numbers() throws {
        try Self.withSocket { descriptor in
            #expect(try SystemOption.keepaliveIdle.value(on: descriptor) != 77)
            try SystemOption.keepaliveIdle.set(77, on: descriptor)
            #expect(try SystemOption.keepaliveIdle.value(on: descriptor) == 77)
            try SystemOption.noDelay.set(true, on: descriptor)
            #expect(try SystemOption.noDelay.value(on: descriptor) != 0)
            try SystemOption.noDelay.set(false, on: descriptor)
            #expect(try SystemOption.noDelay.value(on: descriptor) == 0)
        }
    }

    @Test("A time to linger is read back as it was set, and none as none")
    func lingering() throws {
        try Self.withSocket { descriptor in
            #expect(try SystemOption.lingering.lingerTime(on: descriptor) == nil)
            try SystemOption.lingering.setLinger(3, on: descriptor)
            #expect(try SystemOption.lingering.lingerTime(on: descriptor) == 3)
            try SystemOption.lingering.setLinger(0, on: descriptor)
            #expect(try SystemOption.lingering.lingerTime(on: descriptor) == 0)
            try SystemOption.lingering.setLinger(nil, on: descriptor)
            #expect(try SystemOption.lingering.lingerTime(on: descriptor) == nil)
        }
    }

    @Test("What is refused is named, with the value and the system's reason")
    func refusals() throws {
        try Self.withSocket { descriptor in
            let error = socketError { try SystemOption.keepaliveCount.set(1_000, on: descriptor) }
            #expect(error?.code == .system && error?.errno == EINVAL)
            #expect(error?.message == "TCP_KEEPCNT was refused, set to 1000.")
        }
    }

    @Test("A name with a zero in it is refused rather than cut")
    func zeroInName() throws {
        try Self.withSocket { descriptor throws in
            let error = socketError { try SystemOption.boundDevice.set("lo\u{0}x", on: descriptor) }
            #expect(error?.errno == EINVAL)
            #expect(try SystemOption.boundDevice.text(on: descriptor) == nil)
        }
    }

    @Test("What the platform doesn't have is said so, and no call is made")
    func missing() {
        let option = SystemOption("SO_NOWHERE", SOL_SOCKET, nil)
        for attempt in [{ try option.set(1, on: -1) }, { _ = try option.value(on: -1) }] as [() throws -> Void] {
            let error = socketError(of: attempt)
            #expect(error?.message == "This system has no option SO_NOWHERE." && error?.errno == nil)
        }
    }

    @Test("What isn't a socket can't be asked")
    func notASocket() {
        let error = socketError { _ = try SystemOption.keepalive.value(on: -1) }
        #expect(error?.message == "SO_KEEPALIVE could not be read." && error?.errno == EBADF)
    }
}
