// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// The thread of an event loop: starts it, and knows whether the caller runs on it.
package final class LoopThread: Sendable {
    /// The `pthread_t` of the running thread as a number; 0 while there is none.
    private let identity = Atomic<UInt>(0)
    private let name: String

    package init(name: String) {
        self.name = name
    }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool {
        identity.load(ordering: .relaxed) == Self.currentIdentity
    }

    /// Starts the thread, detached, and runs `body` on it.
    ///
    /// - Parameter body: what the thread does; the thread ends when it returns.
    /// - Throws: ``SocketError`` when the system has no thread to give.
    package func start(_ body: @escaping @Sendable () -> Void) throws(SocketError) {
        #if DEBUG
        let body = FaultPlan.inherited(body)
        #endif
        let box = unsafe Unmanaged.passRetained(ThreadBody(thread: self, body: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        #if canImport(Glibc)
        var handle = pthread_t()
        #else
        var handle: pthread_t?
        #endif
        // The box crosses as an opaque pointer, retained here and released by the thread: the only way through the C call.
        let code = SystemCall.startThread.number {
            unsafe pthread_create(&handle, &attributes, runThread, box.toOpaque())
        }
        if code != 0 {
            unsafe box.release()
            throw SocketError(.system, message: "The thread of an event loop could not be started.", errno: code)
        }
    }

    fileprivate func run(_ body: () -> Void) {
        let current = Self.currentIdentity
        identity.store(current, ordering: .relaxed)
        #if canImport(Glibc)
        unsafe cduplex_name_thread(String(name.prefix(15)))
        #else
        unsafe pthread_setname_np(name)
        #endif
        body()
        // Only its own mark: the loop may have started another thread since the body ended.
        _ = identity.compareExchange(expected: current, desired: 0, ordering: .relaxed)
    }

    private static var currentIdentity: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        unsafe UInt(bitPattern: pthread_self())
        #endif
    }
}

private final class ThreadBody: Sendable {
    let thread: LoopThread
    let body: @Sendable () -> Void

    init(thread: LoopThread, body: @escaping @Sendable () -> Void) {
        self.thread = thread
        self.body = body
    }
}

#if canImport(Glibc)
private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let box = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    box.thread.run(box.body)
    return nil
}
#else
private func runThread(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let box = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    box.thread.run(box.body)
    return nil
}
#endif
