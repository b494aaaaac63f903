// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Something of this machine's network has changed.
public enum NetworkChange: Sendable, Hashable, CustomStringConvertible {
    /// An interface can be used now: it is switched on, and has its link.
    case interfaceUp(String)
    /// An interface can't be used any more: it was switched off, has lost its link, or is gone.
    case interfaceDown(String)
    /// An interface has got an address, and may use it.
    case addressAdded(SocketAddress, interface: String)
    /// An interface has lost an address.
    case addressRemoved(SocketAddress, interface: String)
    /// The ways to other networks have changed.
    case routeChanged
    /// More has changed than was kept, by the system or for a slow reader: assume that everything has changed.
    ///
    /// An interface may have gone down and come up again without a report of either.
    case missed

    /// Whether something can't be used any more that could be, and nothing else.
    package var isLoss: Bool {
        switch self {
        case .interfaceDown, .addressRemoved: true
        case .interfaceUp, .addressAdded, .routeChanged, .missed: false
        }
    }

    /// What it is, for people.
    public var description: String {
        switch self {
        case .interfaceUp(let name): "\(name) is up"
        case .interfaceDown(let name): "\(name) is down"
        case .addressAdded(let address, let name): "\(name) has \(address.host)"
        case .addressRemoved(let address, let name): "\(name) hasn't \(address.host) any more"
        case .routeChanged: "the routes have changed"
        case .missed: "more has changed than was kept"
        }
    }
}

/// The changes that somebody hasn't seen yet; bounded.
///
/// A change that waits already doesn't wait twice, but moves to the end: so the last word on each interface and each
/// address is the last that is seen, and that it went down in between is seen, too.
struct PendingChanges {
    /// How many wait at most; beyond that all of them become one ``NetworkChange/missed``.
    static let bound = 256

    private(set) var changes: [NetworkChange] = []

    mutating func add(_ change: NetworkChange) {
        changes.removeAll { $0 == change }
        if changes.count >= Self.bound { changes = [.missed] }
        changes.append(change)
    }

    /// Takes the oldest one out.
    mutating func next() -> NetworkChange? {
        changes.isEmpty ? nil : changes.removeFirst()
    }
}
