// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Which values are secrets, by their names; and what is shown of those.
struct SecretNames: Sendable {
    /// Names with one of these in them, in any case, are those of secrets.
    static let standard = [
        "token", "secret", "password", "passwd", "passphrase", "key", "credential", "auth", "cookie", "session",
        "private", "signature", "salt", "pin", "pass", "pwd", "jwt", "bearer",
    ]
    /// What is shown in a secret's place.
    static let mask = "••••••"

    let parts: [String]
    let showsSecrets: Bool

    init(_ parts: [String] = standard, showsSecrets: Bool = false) {
        self.parts = parts.map { $0.lowercased() }
        self.showsSecrets = showsSecrets
    }

    /// Whether a value of that name isn't shown.
    ///
    /// Short words count as a word of their own only: `pin`, but not `mapping`.
    func isSecret(_ name: String) -> Bool {
        if showsSecrets { return false }
        let lowercase = name.lowercased()
        let words = lowercase.split { !$0.isLetter }
        return parts.contains { part in
            part.count > 3 || part == "key" ? lowercase.contains(part) : words.contains { $0 == part }
        }
    }

    /// A text with the secrets of URLs in it masked: `postgres://app:••••••@host/?token=••••••`.
    ///
    /// What lets somebody in to an inspector is masked always.
    func masking(_ text: String) -> String {
        let text = InspectorSecret.masked(text)
        if showsSecrets || !text.contains("=") && !text.contains("://") { return text }
        return text.replacing(/(:\/\/[^\/\s:@]*:)[^\/\s]+@/) { "\($0.output.1)\(Self.mask)@" }
            .replacing(/([?&#;])([^=&#;?\s]+)=([^&#;\s"']+)/) { match in
                let name = PercentDecoding.decode(match.output.2, plusIsSpace: true) ?? String(match.output.2)
                return isSecret(name) ? "\(match.output.1)\(match.output.2)=\(Self.mask)" : String(match.output.0)
            }
    }

    /// Whether an argument is a field of HTTP with credentials, such as `Authorization: Bearer …`.
    private func isField(_ argument: String) -> Bool {
        guard !showsSecrets, let colon = argument.firstIndex(of: ":"), !argument.contains("://") else { return false }
        return isSecret(String(argument[..<colon]))
    }

    /// Arguments with secrets masked: behind `--token=`, and behind `--token`.
    func masking(_ arguments: [String]) -> [String] {
        var masksNext = false
        return arguments.map { argument in
            let isValue = masksNext
            masksNext = false
            if isValue || isField(argument) { return Self.mask }
            let name = argument.prefix { $0 != "=" }
            guard argument.hasPrefix("-"), isSecret(String(name)) else { return masking(argument) }
            masksNext = name.count == argument.count
            return masksNext ? argument : "\(name)=\(Self.mask)"
        }
    }
}
