// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// What a request without the right credentials is answered with.
enum Challenges {
    /// The challenge of Basic (RFC 7617 section 2).
    static func basic(realm: String) -> String {
        "Basic realm=\(QuotedText.of(realm)), charset=\"UTF-8\""
    }

    /// 401 with challenges, each in a field of its own: not every client takes them apart.
    static func unauthorized(_ challenges: [String]) -> Problem {
        var problem = Problem(.unauthorized, "Who you are has to be shown.")
        for challenge in challenges { problem.fields.append(HTTPField(name: .wwwAuthenticate, value: challenge)) }
        return problem
    }
}
