// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes

extension ConnectOptions {
    /// With time to connect on a machine that is busy with other tests.
    static var patient: ConnectOptions { ConnectOptions(timeout: .limit(seconds: 60)) }
}
