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

    /// Ends all loops: work that is ready runs, sockets that wait for their peers are closed, then the threads end.
    ///
    /// A socket that has neither been read nor had to wait to write is closed when it is dropped.
    ///
    /// Returns when the threads have nothing left to do. A task that is resumed on a loop later still runs, on a thread
    /// started for it, so that nobody waits for ever; its socket is closed by then. Calling it again returns at once.
    public func stop() async {
        for loop in loops { await loop.stop() }
    }

    /// The number of processors that this process may run on.
    private static var coreCount: Int {
        max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}
