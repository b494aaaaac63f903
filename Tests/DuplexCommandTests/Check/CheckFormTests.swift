// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexCommand

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
