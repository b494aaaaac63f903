// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The address of a listener.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// The interfaces that a TCP listener takes connections from.
    public enum Host: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// This machine only: 127.0.0.1 and ::1.
        case loopback
        /// All interfaces, IPv4 and IPv6.
        case any
        /// One address of this machine, as a literal.
        case address(String)
        /// All addresses that one interface has when listening begins, such as `eth0`.
        ///
        /// Addresses that it gets later are not listened on. Which interface a packet came in by isn't looked at: the
        /// system takes a connection to any of its addresses from all sides.
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

        /// What it is, for people.
        public var description: String {
            switch self {
            case .loopback: "localhost"
            case .any: "*"
            case .address(let literal): literal
            case .interface(let name): name
            }
        }
    }

    /// What kind of address it is.
    enum Kind: Sendable, Hashable {
        case tcp(Host, port: Int)
        case unix(String, permissions: UInt16?)
        case descriptor(Int32)
        case inherited(name: String?)
    }

    let kind: Kind

    /// A TCP port; with 0 the system chooses a free one.
    ///
    /// - Parameters:
    ///   - host: which interfaces. Default: this machine only.
    ///   - port: the port, 0 to 65,535.
    /// - Returns: the address.
    public static func tcp(host: Host = .loopback, port: Int) -> ListenAddress {
        ListenAddress(kind: .tcp(host, port: port))
    }

    /// A Unix socket.
    ///
    /// The socket of another process is never taken away: if one listens at the path, binding fails. A socket that is
    /// left from one that has ended is replaced. The file is removed when the listener closes.
    ///
    /// - Parameters:
    ///   - path: of a file that isn't there, or is a socket; or, on Linux, `@` and a name that isn't a file's.
    ///   - permissions: who may connect, as of a file; from the first moment on. Default: what the process's mask
    ///     allows.
    /// - Returns: the address.
    public static func unix(_ path: String, permissions: UInt16? = nil) -> ListenAddress {
        ListenAddress(kind: .unix(path, permissions: permissions))
    }

    /// A socket that listens already, made by somebody else.
    ///
    /// Once the listener is there, the descriptor is the listener's, which closes it; where binding fails it is still the
    /// caller's. It becomes non-blocking, also for whoever has a copy of it, and programs that are started don't inherit
    /// it. The backlog stays as it is. The file of a Unix socket isn't removed, as it is another's.
    ///
    /// - Parameter descriptor: of a stream socket on which listen(2) was called.
    /// - Returns: the address.
    public static func descriptor(_ descriptor: Int32) -> ListenAddress {
        ListenAddress(kind: .descriptor(descriptor))
    }

    /// The sockets that this process was started with: socket activation by systemd (sd_listen_fds(3)).
    ///
    /// As ``descriptor(_:)``, with what the variables `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` name. Each socket can be
    /// taken once in the life of the process.
    ///
    /// - Parameter name: of the sockets to take (`FileDescriptorName=` of the socket unit). Default: all.
    /// - Returns: the address.
    public static func inherited(name: String? = nil) -> ListenAddress {
        ListenAddress(kind: .inherited(name: name))
    }

    /// What it is, for people.
    public var description: String {
        switch kind {
        case .tcp(let host, let port): "\(host):\(port)"
        case .unix(let path, _): "unix:\(path)"
        case .descriptor(let descriptor): "descriptor \(descriptor)"
        case .inherited(let name): name.map { "the inherited sockets “\($0)”" } ?? "the inherited sockets"
        }
    }

    /// Whether only this machine reaches it, by TCP.
    package var isLoopback: Bool {
        switch kind {
        case .tcp(.loopback, _): true
        case .tcp(.address(let literal), let port): (try? SocketAddress(literal, port: port))?.isLoopback == true
        default: false
        }
    }

    /// The same address once more, when what listened there is gone.
    ///
    /// - Parameter port: that it had.
    /// - Returns: the address; nil where somebody else had made the socket.
    package func again(at port: Int) -> ListenAddress? {
        switch kind {
        case .tcp(let host, _): .tcp(host: host, port: port)
        case .unix: self
        case .descriptor, .inherited: nil
        }
    }

    /// Whether the system is to choose the port.
    var choosesPort: Bool {
        if case .tcp(_, port: 0) = kind { true } else { false }
    }

    /// The addresses to bind; none where sockets are bound already.
    func socketAddresses() throws(SocketError) -> [SocketAddress] {
        switch kind {
        case .tcp(.loopback, let port):
            [try SocketAddress("127.0.0.1", port: port), try SocketAddress("::1", port: port)]
        case .tcp(.any, let port):
            [try SocketAddress("0.0.0.0", port: port), try SocketAddress("::", port: port)]
        case .tcp(.address(let literal), let port): [try SocketAddress(literal, port: port)]
        case .tcp(.interface(let name), let port): try NetworkInterface.addresses(of: name, port: port)
        case .unix(let path, _): [try .unix(path)]
        case .descriptor, .inherited: []
        }
    }
}
