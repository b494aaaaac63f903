// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The addresses of this machine that a socket listens on, is bound to, or connects from.
public enum LocalHost: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// This machine only: 127.0.0.1 and ::1.
    ///
    /// A listener has both. A ``UDPSocket`` has one of them, ::1 if it talks to IPv6 only, and a connection that goes out has the
    /// one of its peer's family.
    case loopback
    /// All addresses, IPv4 and IPv6.
    ///
    /// For a ``UDPSocket`` it is the only host that receives what is sent to groups and broadcast addresses on every system. For
    /// a connection that goes out, the system chooses.
    case any
    /// One address of this machine, as a literal such as `192.0.2.1` or `fe80::1%eth0`.
    ///
    /// A connection from it can go to peers of the same family only.
    case address(String)
    /// The addresses of one network interface, such as `eth0`.
    ///
    /// A listener has all that the interface has when listening begins; addresses that it gets later are not listened on.
    /// The system takes a connection to any of them from all sides, whichever interface its packets come in by.
    ///
    /// A ``UDPSocket`` has the first one: of IPv4 if there is one, or of the family that it is to talk to. For groups and
    /// broadcast addresses use ``any``, and name the interface when joining, or bind to the interface itself by
    /// ``SocketOptions/boundDevice``.
    ///
    /// A connection that goes out has the first one of the peer's family: a link-local one for a peer whose address is
    /// link-local, another one otherwise. This sets the address and not the way: if the system's routes lead elsewhere, the
    /// packets take those.
    case interface(String)

    /// `localhost` is ``loopback``, `*` is ``any``, anything else is taken as a literal address.
    public init(_ text: String) {
        switch text {
        case "localhost": self = .loopback
        case "*", "": self = .any
        default: self = .address(text)
        }
    }

    /// Makes a value of a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The host, for people.
    public var description: String {
        switch self {
        case .loopback: "localhost"
        case .any: "*"
        case .address(let literal): literal
        case .interface(let name): name
        }
    }
}
