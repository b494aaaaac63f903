// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

extension HTTPFields {
    /// The values of all Host fields; the field types have no constant for that name.
    var hosts: [String] {
        var values: [String] = []
        for field in self where field.name.canonicalName == "host" { values.append(field.value) }
        return values
    }

    /// Whether a field that is a comma-separated list has that member, in any case of letters.
    package func hasToken(_ token: String, in name: HTTPField.Name) -> Bool {
        guard contains(name) else { return false }
        return self[values: name].contains { value in
            Grammar.list(value).contains { Grammar.matches($0, token) }
        }
    }

    /// Whether the connection persists behind a message with these fields (RFC 9112 section 9.3).
    func keepsAlive(version: HTTPVersion) -> Bool {
        if hasToken("close", in: .connection) { return false }
        return version >= .http11 || hasToken("keep-alive", in: .connection)
    }
}

/// The hosts that a request was for, as proxies say that send a `Host` of their own: `X-Forwarded-Host` and `Forwarded` (RFC
/// 7239 section 5.3).
///
/// Hazard: any client can send these fields. They may only decide what a client can decide anyway.
package enum ForwardedHosts {
    /// The most hosts that are read.
    package static let bound = 16

    /// Reads the hosts, with their ports if there are any; members that are malformed are left out.
    package static func read(_ headers: HTTPFields) -> [String] {
        var hosts = headers[values: xForwardedHost].flatMap(Grammar.list).map(String.init)
        for value in headers[values: forwarded] { hosts += read(forwarded: value) }
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
