// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The callbacks of a channel; all on the loop.
package protocol ChannelHandler: AnyObject {
    /// Bytes have arrived. They lie in the loop's buffer and are valid during the call only; they may be changed in place.
    func received(_ bytes: inout MutableRawSpan)

    /// Receives by itself, into memory of its own; asked while ``Channel/handlerReceives``.
    ///
    /// - Parameters:
    ///   - carrier: what it is received from.
    ///   - limit: the most bytes to take.
    /// - Returns: what the system call gave; `nil` to have ``received(_:)`` called instead.
    func receive(from carrier: Carrier, limit: Int) -> TransferResult?

    /// The peer has finished writing; nothing more arrives.
    func inputEnded()

    /// Output that waited above the high-water mark has fallen to the low one.
    func outputDrained()

    /// All output is sent, and the socket takes more; called while ``Channel/handlerSends``.
    ///
    /// - Returns: what came of sending; a failure is the connection's end.
    func sendMore() -> TransferResult

    /// The connection has failed, and the channel is closed.
    func failed(_ error: SocketError)
}

extension ChannelHandler {
    /// Most handlers look at what lies in the loop's buffer.
    package func receive(from carrier: Carrier, limit: Int) -> TransferResult? { nil }

    /// Sends nothing: most handlers only write.
    package func sendMore() -> TransferResult { .wouldBlock }
}
