// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A value in memory of its own, made when it is first changed: until then it takes the room of a reference.
///
/// An object would do the same, but each look at it would cost two counts of references and a check for overlapping accesses.
@safe @usableFromInline
package struct LazyPlace<Value>: ~Copyable {
    // This is its only owner, lends it for the length of a call, and frees it at its own end.
    @usableFromInline var pointer: UnsafeMutablePointer<Value>?

    /// Makes a place without a value.
    @inlinable
    package init() { unsafe pointer = nil }

    deinit {
        guard let pointer = unsafe pointer else { return }
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }

    /// Whether there is a value.
    @inlinable
    package var isEmpty: Bool { unsafe pointer == nil }

    /// Reads the value, if there is one.
    ///
    /// - Parameter body: gets the value; may not change this place.
    /// - Returns: what it returns; `nil` without a value.
    @inlinable
    package func read<Result>(_ body: (borrowing Value) -> Result) -> Result? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe body(pointer.pointee)
    }

    /// Changes the value, if there is one.
    ///
    /// - Parameter body: gets the value; may not change this place in another way.
    /// - Returns: what it returns; `nil` without a value.
    @inlinable
    package mutating func change<Result>(_ body: (inout Value) -> Result) -> Result? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe body(&pointer.pointee)
    }

    /// Changes the value, which is made if there is none.
    ///
    /// - Parameters:
    ///   - fresh: what it is at first.
    ///   - body: gets the value; may not change this place in another way.
    /// - Returns: what it returns.
    @inlinable
    package mutating func change<Result>(
        orMake fresh: @autoclosure () -> Value,
        _ body: (inout Value) -> Result
    ) -> Result {
        if let pointer = unsafe pointer { return unsafe body(&pointer.pointee) }
        let made = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        unsafe made.initialize(to: fresh())
        unsafe pointer = made
        return unsafe body(&made.pointee)
    }
}
