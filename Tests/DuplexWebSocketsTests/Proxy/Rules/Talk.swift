// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

@testable import DuplexWebSockets

/// What a conversation with a proxy has come to.
struct Talk: Equatable {
    var steps: [ProxyStep] = []
    var failure: ProxyError?
    /// What was left untouched behind the last step that ended it.
    var rest: [UInt8] = []
}

/// Feeds the pieces to a machine up to the step that ends it.
func talk(
    _ pieces: [[UInt8]],
    _ receive: (Span<UInt8>, inout Int) throws(ProxyError) -> ProxyStep
) -> Talk {
    var talk = Talk()
    var isOver = false
    for piece in pieces {
        var position = 0
        while position < piece.count && !isOver {
            do throws(ProxyError) {
                let step = try receive(piece.span, &position)
                if step != .wait { talk.steps.append(step) }
                isOver = step == .established || step == .reconnect
            } catch {
                talk.failure = error
                return talk
            }
        }
        talk.rest += piece[position...]
    }
    return talk
}
