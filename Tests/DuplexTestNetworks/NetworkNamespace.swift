// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Glibc

/// A network namespace, for what a test does in it itself.
package struct NetworkNamespace: Sendable {
    /// The file that stands for it.
    private let path: String

    package init(path: String) {
        self.path = path
    }

    /// Does something in it on the calling thread, which is back in its own behind that.
    ///
    /// A thread begins in the namespace of the thread that starts it. So whatever may start one has to wait until this has
    /// returned, and that includes resuming a task: a thread of the pool that began here would do the work of other tests here,
    /// where none of their ports is.
    package func run<Result>(_ body: () throws -> Result) throws -> Result {
        let own = try Self.open("/proc/thread-self/ns/net")
        defer { close(own) }
        let other = try Self.open(path)
        defer { close(other) }
        guard Self.enter(other) == 0 else { throw Shell.Failure(description: "setns: errno \(errno)") }
        // A thread that stays would do other tests' work there, which then fail without saying why.
        defer { if Self.enter(own) != 0 { fatalError("The thread can't leave the namespace: errno \(errno)") } }
        return try body()
    }

    private static func open(_ path: String) throws -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Shell.Failure(description: "\(path): errno \(errno)") }
        return descriptor
    }

    /// setns(2), which glibc declares only with _GNU_SOURCE.
    private static func enter(_ namespace: Int32) -> Int32 {
        typealias Call = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "setns") else { return -1 }
        // CLONE_NEWNET: a namespace of another kind is refused.
        return unsafe unsafeBitCast(symbol, to: Call.self)(namespace, 0x4000_0000)
    }
}
#endif
