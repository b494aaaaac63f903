// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexServer

@Suite("What a request without the right credentials is answered with")
struct ChallengesTests {
    @Test("Each challenge is a field of its own, and the realm is quoted")
    func fields() {
        let problem = Challenges.unauthorized([Challenges.basic(realm: "a \"b\""), "Bearer realm=\"c\""])
        #expect(problem.status == .unauthorized)
        #expect(
            problem.fields[values: .wwwAuthenticate]
                == [#"Basic realm="a \"b\"", charset="UTF-8""#, #"Bearer realm="c""#]
        )
        let response = problem.response(for: nil)
        #expect(response.fields[values: .wwwAuthenticate].count == 2)
    }
}
