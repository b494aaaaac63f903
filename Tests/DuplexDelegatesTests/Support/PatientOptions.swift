// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexWebSockets

extension ConnectOptions {
    /// With time to connect on a machine that is busy with other tests.
    static var patient: ConnectOptions { ConnectOptions(timeout: .limit(seconds: 60)) }
}

extension WebSocketOptions {
    /// With time to connect on a machine that is busy with other tests.
    static var patient: WebSocketOptions {
        var options = WebSocketOptions()
        options.connectTimeout = .limit(seconds: 60)
        return options
    }
}
