// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// The time in which a handler has to answer.
///
/// Belongs to its loop's thread.
final class TimeLimit: TimerTarget {
    private weak var connection: HTTPConnection?
    private let core: LoopCore
    private var timer: TimerID?

    init(_ limit: Duration, on connection: HTTPConnection) {
        self.connection = connection
        core = connection.services.core
        timer = core.schedule(self, at: core.readClock().advanced(by: limit))
    }

    func stop() {
        if let timer { core.cancel(timer) }
        timer = nil
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer else { return }
        self.timer = nil
        connection?.handlerIsLate()
    }
}
