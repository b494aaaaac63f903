// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

// Who makes a request, by the certificate that the client has shown (RFC 8446 section 4.4.2), before its body is asked for.

extension RouteOption {
    /// Requires a certificate that the app knows; others get 403.
    ///
    /// ```swift
    /// server.tls?.clientCertificates = .requested(.roots(ours))
    /// server.group("/machines", .clientCertificate { certificate in machines[certificate.fingerprint] }) { … }
    /// ```
    ///
    /// The name is `request[AuthenticatedUser.self]` then. It guards WebSockets as well. That a client which has shown none is
    /// refused by 403 and not by 401 is RFC 9110 section 15.5.2: no challenge of HTTP's could be answered by a certificate.
    ///
    /// Hazard: TLS has checked that the certificate is trusted by `TLSServerOptions.clientCertificates`, and that the
    /// client has its key. The app has to check the name in the certificate: an authority also signs certificates of
    /// others.
    ///
    /// - Parameter name: the name of whose the certificate is, for `request[AuthenticatedUser.self]`, or `nil`. Called with the
    ///   client's own certificate for each request.
    /// - Returns: the option.
    public static func clientCertificate(
        _ name: @escaping @Sendable (TLSCertificate) async throws -> String?
    ) -> RouteOption {
        .authentication(
            .beforeWaiting { request in
                guard let certificate = request.tls?.peerCertificates.first else {
                    throw Problem(.forbidden, "The client has to show a certificate here.")
                }
                guard let user = try await name(certificate) else {
                    throw Problem(.forbidden, "The client's certificate doesn't let in here.")
                }
                request.authenticate(as: user)
                return nil
            }
        )
    }
}
