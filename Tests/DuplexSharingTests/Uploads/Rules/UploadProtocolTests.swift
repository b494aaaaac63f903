// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexSharing
@testable import DuplexWire

@Suite("What tus says of a server")
struct UploadProtocolTests {
    @Test(
        "A version that isn't spoken is refused with 412, and so is none",
        arguments: [nil, "", "0.2.2", "1.0.0, 1.0.0"]
    )
    func versions(version: String?) {
        var headers = HTTPFields()
        headers[UploadProtocol.resumable] = version
        do {
            try UploadProtocol.checkVersion(headers)
            Issue.record("It is taken.")
        } catch {
            #expect(error.status == .preconditionFailed)
        }
    }

    @Test("The method that is meant may be in a field")
    func methods() {
        #expect(UploadProtocol.method(.post, [:]) == .post)
        #expect(UploadProtocol.method(.post, [UploadProtocol.method: "PATCH"]) == .patch)
        #expect(UploadProtocol.method(.get, [UploadProtocol.method: "not a method"]) == .get)
    }

    @Test("OPTIONS tells of versions, extensions, digests and the bound")
    func description() {
        let headers = UploadProtocol.description(maximum: 5)
        #expect(headers[UploadProtocol.versions] == "1.0.0" && headers[UploadProtocol.maximum] == "5")
        #expect(headers[UploadProtocol.algorithms] == "sha1,sha256,md5")
        #expect(headers[UploadProtocol.extensionList]?.split(separator: ",").count == 8)
        #expect(UploadProtocol.description(maximum: nil)[UploadProtocol.maximum] == nil)
    }

    @Test(
        "A number of bytes has digits and nothing else",
        arguments: ["", "-1", "+1", "1 1", "0x1", "1,1", "99999999999999999999"]
    )
    func counts(text: String) {
        let count = try? UploadProtocol.count(UploadProtocol.offset, [UploadProtocol.offset: text])
        #expect(count == nil)
    }
}
