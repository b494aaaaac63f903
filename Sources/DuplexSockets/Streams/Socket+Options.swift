// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Socket {
    /// Sets options of the connection; those that are `nil` stay as they are.
    ///
    /// - Parameter options: what to set. ``SocketOptions/fastOpen`` comes too late here.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` that names the option that was refused, and those before it
    ///   stay set; the reason of the end when the socket has ended.
    public func setOptions(_ options: SocketOptions) throws(SocketError) {
        try options.apply(to: try openDescriptor(), family: family)
    }

    /// What the system says of the connection.
    ///
    /// - Returns: every option that it has; `nil` for what sockets of its kind don't have.
    /// - Throws: ``SocketError``: the reason of the end when the socket has ended.
    public func options() throws(SocketError) -> SocketOptions {
        try SocketOptions(of: try openDescriptor(), family: family)
    }

    /// Lends the system's descriptor, for options and questions that have no other way.
    ///
    /// > Warning: The descriptor stays the socket's. It must not be closed, made blocking, read from, written to, or kept
    /// > beyond the call: its number may be another socket's by then. What blocks in `body` blocks all sockets of the loop.
    ///
    /// - Parameter body: called on the socket's loop with the descriptor.
    /// - Throws: what `body` throws; ``SocketError`` with the reason of the end when the socket has ended.
    /// - Returns: what `body` returned.
    public func withDescriptor<Value: Sendable>(_ body: @Sendable (Int32) throws -> Value) throws -> Value {
        try body(try openDescriptor())
    }

    private var family: AddressFamily { localAddress?.family ?? .ipv4 }

    private func openDescriptor() throws(SocketError) -> Int32 {
        if let failure { throw failure }
        guard channel.value.isOpen else { throw SocketError(.closed, message: "The socket is closed.") }
        let descriptor = channel.value.descriptor
        if descriptor < 0 {
            throw SocketError(.system, message: "A connection within the process has no descriptor.")
        }
        return descriptor
    }
}
