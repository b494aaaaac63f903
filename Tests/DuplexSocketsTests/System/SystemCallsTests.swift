// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct SystemCallsTests {
    private func withPair(_ body: (Int32, Int32) throws -> Void) throws {
        let pair = try Descriptors.pair()
        defer {
            SystemCalls.close(pair.near)
            SystemCalls.close(pair.far)
        }
        try body(pair.near, pair.far)
    }

    @Test("A receive gives bytes, then that it would block, then the end of the stream")
    func receiving() throws {
        try withPair { near, far in
            #expect(Descriptors.send(near, [1, 2, 3]) == .transferred(3))
            #expect(Descriptors.read(far) == [1, 2, 3])
            var byte: [UInt8] = [0]
            let result = unsafe byte.withUnsafeMutableBytes { unsafe SystemCalls.receive(far, into: $0) }
            #expect(result == .wouldBlock)
            SystemCalls.finishWriting(near)
            #expect(Descriptors.read(far) == [])
        }
    }

    @Test("Sending after this side has finished fails with a number, not with a signal")
    func brokenPipe() throws {
        try withPair { near, _ in
            SystemCalls.finishWriting(near)
            #expect(Descriptors.send(near, [1]) == .failed(EPIPE))
        }
    }

    @Test("Two pieces go out one behind the other")
    func twoPieces() throws {
        try withPair { near, far in
            let (first, second): ([UInt8], [UInt8]) = ([1, 2], [3, 4, 5])
            let result = unsafe first.withUnsafeBytes { head in
                unsafe second.withUnsafeBytes { tail in unsafe SystemCalls.send(near, head, tail) }
            }
            #expect(result == .transferred(5))
            #expect(Descriptors.read(far) == [1, 2, 3, 4, 5])
        }
    }

    @Test("New and accepted sockets don't block and are not inherited")
    func flags() throws {
        try withPair { near, far in
            for descriptor in [near, far] {
                #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
                #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            }
        }
    }

    @Test("An empty backlog, a bad descriptor and a reset by the peer are told apart")
    func errors() throws {
        let (listener, _) = try Descriptors.listener()
        #expect(SystemCalls.accept(listener) == .none)
        SystemCalls.close(listener)
        #expect(SystemCalls.accept(-1) == .failed(EBADF))
        let pair = try Descriptors.pair()
        #expect(SystemCalls.pendingError(pair.far) == 0)
        SystemCalls.setResetOnClose(pair.near)
        SystemCalls.close(pair.near)
        #expect(Descriptors.isReady(pair.far))
        #expect(SystemCalls.pendingError(pair.far) == ECONNRESET)
        SystemCalls.close(pair.far)
    }
}
