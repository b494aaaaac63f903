// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// How a message is deflated by itself: connections with the same form can be sent the same bytes.
package struct DeflatedForm: Sendable, Hashable {
    /// The exponent of the window: references reach less far than that.
    package let windowBits: Int
    /// How hard the deflater tries, in its own numbers.
    package let level: Int

    /// Makes a form.
    ///
    /// - Parameters:
    ///   - windowBits: the exponent of the window, 8 to 15.
    ///   - level: how hard the deflater tries, in its own numbers.
    package init(windowBits: Int, level: Int) {
        self.windowBits = windowBits
        self.level = level
    }

    /// The same with the smallest window that a message of so many bytes can make use of.
    func fitting(_ count: Int) -> DeflatedForm {
        let needed = Int.bitWidth - max(count - 1, 0).leadingZeroBitCount
        return DeflatedForm(windowBits: min(windowBits, max(needed, 8)), level: level)
    }
}

/// The frames of one message, deflated by itself once for each form that connections ask for.
///
/// A message that refers to nothing before it is understood on every connection whose window is large enough, with context
/// or without: its bytes merely follow in the window (RFC 7692 section 7.2.1).
final class DeflatedFrames: Sendable {
    /// A frame, and the length of its payload.
    struct Frame: Sendable {
        var bytes: [UInt8]
        var payloadCount: Int
    }

    /// Few: connections are mostly opened alike.
    private let frames = Mutex<[(form: DeflatedForm, frame: Frame?)]>([])

    /// The frame of that form; nil where deflating doesn't make it shorter.
    ///
    /// - Parameters:
    ///   - form: how it is deflated.
    ///   - make: deflates; called where nobody has yet, outside the lock.
    /// - Returns: the frame.
    func frame(_ form: DeflatedForm, _ make: () -> Frame?) -> Frame? {
        if let known = frames.withLock({ frames in frames.first { $0.form == form } }) { return known.frame }
        let frame = make()
        frames.withLock { $0.append((form, frame)) }
        return frame
    }
}
