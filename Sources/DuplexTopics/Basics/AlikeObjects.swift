// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Objects that say the same, of which one serves all who need it, for as long as anybody does.
final class AlikeObjects: Sendable {
    private struct Place {
        weak var object: (any AnyObject & Sendable)?
    }

    private let places = Mutex<[Place]>([])

    /// How many are looked through.
    private static let bound = 16

    /// One that is there and says the same as `made`, or `made`.
    func find<Object: AnyObject & Sendable>(_ made: Object, _ isSame: (Object, Object) -> Bool) -> Object {
        places.withLock { places in
            for place in places { if let found = place.object as? Object, isSame(found, made) { return found } }
            places.removeAll { $0.object == nil }
            if places.count < Self.bound { places.append(Place(object: made)) }
            return made
        }
    }
}
