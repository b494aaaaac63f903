// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexCommand

@Suite("The report of duplex check")
struct CheckReportTests {
    @Test("Tells how long a certificate is still valid, by the clock that it is given")
    func validity() throws {
        let certificate = try TLSIdentity.selfSigned(for: ["a.test"], days: 10).certificates[0]
        let report = CheckReport(.tls("a.test", port: 1), nil, nil, [certificate])
        let lines = { (offset: Int64) in
            report.lines(now: UnixTime(seconds: certificate.notBefore.seconds + offset)).joined(separator: "\n")
        }
        #expect(lines(3_600).contains("10 days left"))
        #expect(lines(-1).contains("not valid yet"))
        #expect(lines(11 * 86_400).contains("expired"))
        #expect(report.lines(now: .now)[0] == "tls://a.test:1")
    }
}
