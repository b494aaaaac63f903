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
