// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Socket {
    /// What the proxy said of a connection that it forwards; `nil` where no header is expected (``ProxyProtocol/off``).
    ///
    /// ``remoteAddress`` is the client's then, as far as the proxy told it, and otherwise the proxy's.
    public nonisolated var proxyHeader: ProxyHeader? { proxy?.header }

    /// The address of the proxy that the connection comes through; `nil` where no header is expected, and for a Unix socket
    /// without a name.
    public nonisolated var proxyAddress: SocketAddress? { proxy?.address }
}
