// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The one buffer that all connections of a loop receive into, so that an idle connection owns none.
///
/// What was received is valid until the next receive on the same loop: it is parsed in place, and whoever wants to keep
/// something copies it.
///
/// Not a class: whoever receives would retain and release it each time.
@safe package struct ReceiveBuffer: ~Copyable {
    /// 512 KiB: large enough that a burst is taken in one system call.
    ///
    /// Pages that were never needed are never touched.
    package static let size = 512 * 1_024
    private let storage: UnsafeMutableRawBufferPointer

    package init() {
        Self.settleAllocator()
        unsafe storage = .allocate(byteCount: Self.size, alignment: 64)
        unsafe storage.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        unsafe storage.deallocate()
    }

    /// Has glibc keep as much free memory as reads need.
    ///
    /// It gives what is free above 128 KiB back to the system at once, and so took two arrays of 64 KiB to be returned and
    /// faulted in again with each message: half of the time of an echo. What it holds to be much grows with the largest
    /// block that is freed (mallopt(3), M_MMAP_THRESHOLD).
    private static func settleAllocator() {
        let large = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 16)
        // Touched, since memory that is freed unused is never asked for.
        unsafe large.storeBytes(of: 1, as: UInt8.self)
        unsafe large.deallocate()
    }

    /// Receives from a stream socket and hands the bytes over for the length of the call.
    ///
    /// - Parameters:
    ///   - descriptor: a connected, non-blocking socket.
    ///   - limit: the most bytes to take.
    ///   - body: called with the bytes when there were any. It must not receive on this loop again.
    /// - Returns: what the system call gave.
    package func receive(
        from descriptor: Int32,
        limit: Int = ReceiveBuffer.size,
        _ body: (inout MutableRawSpan) -> Void
    ) -> TransferResult {
        unsafe receive(limit: limit, from: { unsafe SystemCalls.receive(descriptor, into: $0) }, body)
    }

    /// Receives from whatever `source` fills the buffer with; see ``receive(from:limit:_:)``.
    @inline(__always)
    func receive(
        limit: Int,
        from source: (UnsafeMutableRawBufferPointer) -> TransferResult,
        _ body: (inout MutableRawSpan) -> Void
    ) -> TransferResult {
        let window = unsafe UnsafeMutableRawBufferPointer(rebasing: storage[0..<min(limit, Self.size)])
        let result = unsafe source(window)
        if case .transferred(let count) = result, count > 0 {
            let received = unsafe UnsafeMutableRawBufferPointer(rebasing: window[0..<count])
            var span = unsafe received.mutableBytes
            body(&span)
        }
        return result
    }

    /// Lends the whole buffer for the length of the call: for what comes in pieces of its own, such as datagrams.
    ///
    /// - Parameter body: must not use this loop's buffer otherwise, nor keep the pointer.
    /// - Returns: what `body` returned.
    func lend<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        unsafe body(storage)
    }
}
