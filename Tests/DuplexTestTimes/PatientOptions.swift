// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets

extension ConnectOptions {
    /// With time to connect on a machine that is busy with other tests.
    package static var patient: ConnectOptions {
        var options = ConnectOptions(timeout: .limit(seconds: 60))
        options.tls.handshakeTimeout = .limit(seconds: 60)
        return options
    }
}

extension TLSServerOptions {
    /// With time for handshakes on a machine that is busy with other tests.
    package static func patient(_ identity: TLSIdentity) -> TLSServerOptions {
        var options = TLSServerOptions(identity)
        options.handshakeTimeout = .limit(seconds: 60)
        return options
    }
}
