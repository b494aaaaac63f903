// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Puts the fragments of messages together, in both directions of one connection.
struct MessageAssembly: Sendable {
    private var unfinished: [Bool: RecordedFrame] = [:]

    init() {}

    /// Takes the next frame.
    ///
    /// - Parameter frame: in the order of the connection.
    /// - Returns: the message that it ends, as one frame with the number of its first and the time of its last; the
    ///   frame itself where it is a control frame, or belongs to a message whose beginning is gone; `nil` while more is to come.
    mutating func add(_ frame: RecordedFrame) -> RecordedFrame? {
        if frame.opcode.isControl { return frame }
        guard frame.opcode == .continuation, var whole = unfinished.removeValue(forKey: frame.isOutgoing) else {
            if frame.isFinal || frame.opcode == .continuation { return frame }
            unfinished[frame.isOutgoing] = frame
            return nil
        }
        let size = whole.payload.size + frame.payload.size
        // Behind a cut there is nothing that could be joined to.
        let bytes = whole.payload.isCut ? whole.payload.bytes : whole.payload.bytes + frame.payload.bytes
        whole.payload = RecordedBytes(bytes, of: size)
        whole.wireLength += frame.wireLength
        whole.time = frame.time
        whole.isFinal = frame.isFinal
        if frame.isFinal { return whole }
        unfinished[frame.isOutgoing] = whole
        return nil
    }
}
