// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite struct ErrorCodeTests {
    private struct Code: ErrorCode {
        let rawValue: String
    }

    @Test("A code is its name: for people, and to be compared")
    func names() {
        let code = Code(rawValue: "badHost")
        #expect("\(code)" == "badHost" && code == Code(rawValue: "badHost") && code != Code(rawValue: "other"))
        #expect(Set([code, Code(rawValue: "badHost")]).count == 1)
    }
}
