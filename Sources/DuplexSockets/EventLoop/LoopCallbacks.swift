// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What a loop calls.

/// Something with a descriptor that a loop watches.
package protocol DescriptorHandler: AnyObject {
    /// Called on the loop when the descriptor is ready for something it is watched for, or has failed.
    func ready(_ readiness: Readiness)

    /// Called on the loop when it stops for good, while the descriptor is still watched.
    func loopStopped()
}

/// Something that must know when a loop stops while it has no descriptor watched.
package protocol StopObserver: AnyObject {
    /// Called on the loop when it stops for good.
    func loopStopped()
}

/// Something that gathers output during a turn and sends it at the turn's end.
package protocol Flushable: AnyObject {
    /// Sends what was gathered.
    func flush()
}

/// Something that has to be looked after in a turn without the poller knowing of it.
package protocol TurnTarget: AnyObject {
    /// Called on the loop once, in the turn after it was asked for.
    func turn()
}
