// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// The hosts that a request was for, as proxies say that send a `Host` of their own: `X-Forwarded-Host` and `Forwarded` (RFC
/// 7239 section 5.3).
///
/// Hazard: any client can send these fields. They may only decide what a client can decide anyway.
package enum ForwardedHosts {
    /// The most hosts that are read.
    package static let bound = 16

    /// Reads the hosts, with their ports if there are any; members that are malformed are left out.
    package static func read(_ fields: HTTPFields) -> [String] {
        var hosts = fields[values: xForwardedHost].flatMap(Grammar.list).map(String.init)
        for value in fields[values: forwarded] { hosts += read(forwarded: value) }
        return Array(hosts.prefix(bound))
    }

    /// The parameters `host` of the members of a field `Forwarded`.
    private static func read(forwarded value: String) -> [String] {
        var hosts: [String] = []
        var scanner = FieldScanner(value)
        scanner.skipCommas()
        while !scanner.isAtEnd {
            if let parameter = scanner.parameter() {
                if parameter.name == "host" { hosts.append(parameter.value) }
                scanner.skipBlanks()
            }
            if scanner.skip(";") {
                scanner.skipBlanks()
            } else {
                scanner.skipMember()
                scanner.skipCommas()
            }
        }
        return hosts
    }

    private static let xForwardedHost = name("X-Forwarded-Host")
    private static let forwarded = name("Forwarded")

    private static func name(_ text: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is no name of a field.") }
        return name
    }
}
