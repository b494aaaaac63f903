// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Socket {
    /// The proxy's header for a connection that it forwards; `nil` where no header is expected (``ProxyProtocol/off``).
    ///
    /// ``remoteAddress`` is the client's then, if the proxy sent it, and otherwise the proxy's.
    public nonisolated var proxyHeader: ProxyHeader? { proxy?.header }

    /// The address of the proxy that the connection comes through; `nil` where no header is expected, and for a Unix socket
    /// without a name.
    public nonisolated var proxyAddress: SocketAddress? { proxy?.address }
}
