// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The address of a listener; later versions may add kinds.
@nonexhaustive
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A TCP port, 0 to 65,535, of some interfaces; with 0 the system chooses a free one.
    ///
    /// Default of the host: this machine only.
    case tcp(host: LocalHost = .loopback, port: Int)
    /// A Unix socket: the path of a file that isn't there, or is a socket; or, on Linux, `@` and a name that isn't a file's.
    ///
    /// The socket of another process is never taken away: if one listens at the path, binding fails. A socket that is
    /// left from one that has ended is replaced. The file is removed when the listener closes.
    ///
    /// The permissions say who may connect, as of a file, from the first moment on. Default: what the process's mask
    /// allows.
    case unix(String, permissions: UInt16? = nil)
    /// A stream socket that listens already, made by somebody else: listen(2) was called on the descriptor.
    ///
    /// Once the listener is there, the descriptor is the listener's, which closes it; where binding fails it is still the
    /// caller's. It becomes non-blocking, also for whoever has a copy of it, and programs that are started don't inherit
    /// it. The backlog stays as it is. The file of a Unix socket isn't removed, as it is another's.
    case descriptor(Int32)
    /// The sockets that this process was started with, all or those of a name (`FileDescriptorName=` of the socket unit): socket
    /// activation by systemd (sd_listen_fds(3)).
    ///
    /// As ``descriptor(_:)``, with what the variables `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` name. Each socket can be
    /// taken once in the life of the process.
    case inherited(name: String? = nil)

    /// What it is, for people.
    public var description: String {
        switch self {
        case .tcp(let host, let port): "\(host):\(port)"
        case .unix(let path, _): "unix:\(path)"
        case .descriptor(let descriptor): "descriptor \(descriptor)"
        case .inherited(let name): name.map { "the inherited sockets “\($0)”" } ?? "the inherited sockets"
        }
    }

    /// Whether only this machine reaches it, by TCP.
    package var isLoopback: Bool {
        switch self {
        case .tcp(host: .loopback, port: _): true
        case .tcp(.address(let literal), let port): (try? SocketAddress(literal, port: port))?.isLoopback == true
        default: false
        }
    }

    /// The same address once more, when what listened there is gone.
    ///
    /// - Parameter port: that it had.
    /// - Returns: the address; nil where somebody else had made the socket.
    package func again(at port: Int) -> ListenAddress? {
        switch self {
        case .tcp(let host, _): .tcp(host: host, port: port)
        case .unix: self
        case .descriptor, .inherited: nil
        }
    }

    /// Whether the system is to choose the port.
    var choosesPort: Bool {
        if case .tcp(host: _, port: 0) = self { true } else { false }
    }

    /// The addresses to bind; none where sockets are bound already.
    func socketAddresses() throws(SocketError) -> [SocketAddress] {
        switch self {
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
