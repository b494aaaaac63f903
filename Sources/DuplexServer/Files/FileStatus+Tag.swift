// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
package import DuplexWire

extension FileStatus {
    /// A strong tag of a file, which is another one whenever its content is, as far as the file system's clock tells.
    ///
    /// It is strong from the beginning: clients that synchronize compare the texts of tags, and would take a weak one
    /// that becomes strong for a change. See ``isSettled(now:)`` for the parts of files.
    package var tag: EntityTag? {
        let changed = UInt64(bitPattern: changed.seconds &* 1_000_000_000 &+ changed.nanoseconds)
        return EntityTag([number, size, changed].map { String($0, radix: 36) }.joined(separator: "-"))
    }

    /// Whether a further change shows: the last one is so long ago that the file system's clock has gone on since (RFC 9110
    /// section 8.8.1).
    package func isSettled(now: UnixTime) -> Bool { now.seconds - changed.seconds >= 2 }
}
