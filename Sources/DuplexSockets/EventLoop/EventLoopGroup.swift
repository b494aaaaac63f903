// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A fixed number of event loops that connections are spread over.
public final class EventLoopGroup: Sendable {
    /// The loops; at least one.
    public let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Loops for the whole process, one for each core, started when first used and never stopped.
    public static let shared: EventLoopGroup = {
        do {
            return try EventLoopGroup(loops: coreCount)
        } catch {
            preconditionFailure("The shared event loops could not be started: \(error)")
        }
    }()

    /// Starts a group of loops.
    ///
    /// - Parameter count: how many; less than one is taken as one.
    /// - Throws: ``SocketError`` when the system has no descriptor or thread to give.
    public init(loops count: Int) throws(SocketError) {
        var loops: [EventLoop] = []
        for index in 0..<max(1, count) {
            do throws(SocketError) {
                loops.append(try EventLoop(name: "duplex-loop-\(index)"))
            } catch {
                // Nobody would ever stop those that were started.
                for loop in loops { loop.stopSoon() }
                throw error
            }
        }
        self.loops = loops
    }

    /// A group of loops that there are already.
    ///
    /// - Parameter loops: one at least.
    package init(of loops: [EventLoop]) {
        precondition(!loops.isEmpty, "A group has a loop at least.")
        self.loops = loops
    }

    /// The loop whose turn it is, round robin.
    public func next() -> EventLoop {
        let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
    }

    /// Stops all loops; see ``EventLoop/stop()``.
    public func stop() async {
        for loop in loops { await loop.stop() }
    }

    /// The number of processors that this process may run on.
    private static var coreCount: Int {
        max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}
