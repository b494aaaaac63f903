// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

extension WebSocket {
    /// What TLS came to: the version, the cipher, the certificates of the peer; `nil` without TLS, and once the connection is
    /// closed.
    ///
    /// Read from the connection each time it is asked for.
    public var tls: TLSConnection? { channel.tlsConnection }

    /// The certificates that the peer has shown, its own one first.
    ///
    /// Of a client those that the server has shown. Of a server those of its client: empty for one that showed none, and all are
    /// checked as `TLSServerOptions.clientCertificates` says before anything is received. Empty without TLS, and once the
    /// connection is closed.
    public var peerCertificates: [TLSCertificate] { tls?.peerCertificates ?? [] }
}
