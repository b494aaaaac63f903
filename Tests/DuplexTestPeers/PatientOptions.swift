// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
package import DuplexWebSockets

extension WebSocketOptions {
    /// With time to connect on a machine that is busy with other tests.
    package static var patient: WebSocketOptions {
        var options = WebSocketOptions()
        options.connectTimeout = .limit(seconds: 60)
        options.tls.handshakeTimeout = .limit(seconds: 60)
        return options
    }
}
