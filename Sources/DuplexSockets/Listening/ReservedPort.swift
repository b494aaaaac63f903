// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A port of 127.0.0.1 that is kept from others while nobody listens on it: connecting to it is refused.
///
/// A socket that is bound and doesn't listen holds it, so the system chooses it for no other socket; but whoever asks
/// for just this port may listen on it, as every listener of ours allows (`SO_REUSEADDR`). Given back when it is
/// dropped.
package final class ReservedPort: Sendable {
    package let address: SocketAddress
    private let descriptor: Int32

    package init() throws(SocketError) {
        descriptor = try ListeningSockets.bound(try SocketAddress("127.0.0.1", port: 0), sharesPort: false)
        guard let bound = SocketAddress.local(of: descriptor) else {
            SystemCalls.close(descriptor)
            throw SocketError(.cannotBind, message: "A port was bound but has no address.")
        }
        address = bound
    }

    deinit {
        SystemCalls.close(descriptor)
    }
}
