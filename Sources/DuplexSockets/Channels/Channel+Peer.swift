// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Channel {
    /// Which process is at the other end of a Unix socket; `nil` for any other carrier, and once the channel is closed.
    package var peerCredentials: PeerCredentials? {
        descriptor < 0 ? nil : PeerCredentials(of: descriptor)
    }
}
