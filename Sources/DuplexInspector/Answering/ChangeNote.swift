// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Logging
import Synchronization

/// A change that somebody makes by the page, on its way into the log.
final class ChangeNote: Sendable {
    private let kind: InspectorChange
    private let from: String
    private let user: String?
    private let what = Mutex("")

    init(_ kind: InspectorChange, by request: Request) {
        self.kind = kind
        from = request.remoteAddress.map { "\($0)" } ?? "here"
        user = request[AuthenticatedUser.self]
    }

    /// What is changed, in a few words; the log shows the first 1,000 characters.
    ///
    /// It may hold texts of others: what can't be seen in them is shown as signs, so that nobody steers a terminal.
    func says(_ text: String) { what.withLock { $0 = Self.visible(text.prefix(1_000)) } }

    private static func visible(_ text: Substring) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
                result.append(contentsOf: "⟨U+\(String(scalar.value, radix: 16, uppercase: true))⟩".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    func tell(_ logger: Logger, outcome: String) {
        var metadata: Logger.Metadata = [
            "change": "\(kind.rawValue)", "what": "\(what.withLock { $0 })", "from": "\(from)",
            "outcome": "\(Self.visible(outcome.prefix(1_000)))",
        ]
        if let user { metadata["user"] = "\(user)" }
        logger.notice("the inspector has changed something", metadata: metadata)
    }
}
