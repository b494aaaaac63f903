// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// Certificates for tests, each made once: an authority, and what it has issued.
enum TestCertificates {
    private static let made = Result { try make() }

    struct Made {
        var authority: TLSIdentity
        var server: TLSIdentity
        var client: TLSIdentity
    }

    private static func make() throws -> Made {
        var maker = CertificateMaker(names: ["Duplex test authority"])
        maker.isAuthority = true
        let authority = try maker.make(validFrom: -60, until: day)
        return Made(
            authority: authority,
            server: try issue(["localhost", "127.0.0.1", "::1"], by: authority),
            client: try issue(["client.test"], by: authority)
        )
    }

    static let day = 86_400

    static var authority: TLSIdentity { get throws { try made.get().authority } }
    /// For localhost and its addresses.
    static var server: TLSIdentity { get throws { try made.get().server } }
    static var client: TLSIdentity { get throws { try made.get().client } }
    /// Trusts the authority, and nobody else.
    static var trust: TLSTrust { get throws { .roots([try authority.certificates[0]]) } }

    static func issue(
        _ names: [String],
        by issuer: TLSIdentity? = nil,
        from start: Int = -60,
        until end: Int = day,
        usage: String = "serverAuth,clientAuth"
    ) throws -> TLSIdentity {
        var maker = CertificateMaker(names: names)
        maker.issuer = try issuer ?? authority
        maker.usage = usage
        return try maker.make(validFrom: start, until: end)
    }

    /// Options of a client that trusts the authority.
    static func clientOptions(_ change: (inout TLSOptions) -> Void = { _ in }) throws -> TLSOptions {
        var options = TLSOptions()
        options.trust = try trust
        change(&options)
        return options
    }

    /// Options of a server for localhost.
    static func serverOptions(_ change: (inout TLSServerOptions) -> Void = { _ in }) throws -> TLSServerOptions {
        var options = TLSServerOptions(try server)
        change(&options)
        return options
    }
}
