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

@Suite("The JSON of duplex check")
struct CheckFormTests {
    @Test("Members that don't apply are left out, and a failure has its exit status")
    func members() throws {
        let well = CheckForm(url: "tcp://a.test:1", certificates: [], failure: nil, now: .now)
        #expect(
            try JSONLine.text(of: well)
                == #"{"attempts":[],"certificates":[],"milliseconds":{},"remarks":[],"url":"tcp://a.test:1","works":true}"#
        )
        let error = Failure(.cannotConnect, "no")
        let failed = CheckForm(url: "tcp://a.test:1", certificates: [], failure: error, now: .now)
        #expect(!failed.works && failed.error == "no" && failed.status == 2)
    }

    @Test("A certificate has its names, its times and its key")
    func certificate() throws {
        let certificate = try TLSIdentity.selfSigned(for: ["a.test"], days: 10).certificates[0]
        let form = CheckForm(
            url: "tls://a.test:1",
            certificates: [certificate],
            failure: nil,
            now: certificate.notBefore
        )
        let shown = try #require(form.certificates.first)
        #expect(shown.names == ["a.test"] && shown.pin == certificate.pin && shown.keyBits == 256)
        #expect(shown.daysLeft == 10 && shown.notAfter == "\(certificate.notAfter)")
    }
}
