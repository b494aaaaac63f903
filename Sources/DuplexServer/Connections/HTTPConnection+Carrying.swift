// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

// What an exchange asks of its connection.

extension HTTPConnection: ExchangeCarrier {
    func wantBody() {
        var bytes = services.takeScratch()
        session.wantBody(into: &bytes)
        write(&bytes)
    }

    func setReadingBody(_ isReading: Bool) {
        guard stage == .serving, isBodyHeld == isReading else { return }
        isBodyHeld = !isReading
        if isReading {
            if !isStalled { session.resumeBody(now: now) }
            takePending()
        } else {
            session.pauseBody(now: now)
        }
        settle()
    }

    func followResponse() {
        if client.entrance.givesUpClients { channel.giveUpPeer(after: services.session.values.idleTime) }
    }

    func finishResponse() {
        guard let exchange else { return }
        finishBody(of: exchange, trailers: HTTPFields())
        goOn()
    }

    func abandonResponse(_ error: any Error) {
        noteFault(.silent, "\(error)")
        channel.reset()
        end()
    }

    var isBehind: Bool {
        guard stage == .serving else { return false }
        // The reason is reported at the end of the turn, which a writer that doesn't wait would never let come.
        if !channel.canWrite { return true }
        holdBackIfBehind()
        if isStalled { armTimer() }
        return isStalled
    }
}
