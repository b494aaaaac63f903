// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import DuplexTestPeers
import Glibc
import Testing

@testable import DuplexWebSockets

/// What each idle connection takes; docs/Internals.md says what is elsewhere, and why these sizes.
@Suite struct IdleSizesTests {
    @Test("A socket, its session and its channel are as large as is written down")
    func sizes() async throws {
        // The allocator gives more where the rest would be too small for anything.
        var least = [Int.max, .max, .max]
        for _ in 0..<20 {
            try await withMemoryClient { socket, _, _ in
                least = zip(least, await Self.sizes(socket)).map(min)
            }
        }
        #expect(least == [200, 104, 104])
    }

    private static func sizes(_ socket: isolated WebSocket) -> [Int] {
        // malloc.h is no part of the module of the C library.
        typealias Sizes = @convention(c) (UnsafeRawPointer) -> Int
        let size = unsafe unsafeBitCast(dlsym(nil, "malloc_usable_size"), to: Sizes.self)
        let objects = [socket, socket.session, socket.channel] as [AnyObject]
        return objects.map { unsafe size(Unmanaged.passUnretained($0).toOpaque()) }
    }
}
#endif
