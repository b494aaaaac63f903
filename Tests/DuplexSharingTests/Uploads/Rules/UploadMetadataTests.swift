// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes
import Testing

@testable import DuplexSharing
@testable import DuplexWire

@Suite("What a client says of an upload")
struct UploadMetadataTests {
    @Test("Keys and values, some of them empty, in UTF-8 where they are text")
    func values() throws {
        let metadata = try #require(UploadMetadata("name w6QudHh0, empty,nothing ,odd /w==,clé w6Q="))
        #expect(metadata["name"] == "ä.txt" && metadata["empty"] == "" && metadata["nothing"] == "")
        #expect(metadata["odd"] == nil && metadata["other"] == nil && metadata["clé"] == "ä")
        #expect(metadata.text == "name w6QudHh0, empty,nothing ,odd /w==,clé w6Q=")
        #expect(UploadMetadata.none["name"] == nil)
    }

    @Test(
        "A key that is empty or comes twice, and a value that isn't base64",
        arguments: ["a YQ==,a", "a,,a", "a YQ=", "a YQ== YQ==", "a Y Q==", "a !!!!", "a ä"]
    )
    func wrong(text: String) {
        #expect(UploadMetadata(text) == nil)
    }

    @Test(
        "Padding may be missing, and elements may be empty, such as the last one (RFC 9110 section 5.6.1.2)",
        arguments: ["name w6QudHh0YQ", "name w6QudHh0YQ==,", ",name w6QudHh0YQ , ,", "name w6QudHh0YR=="]
    )
    func lenient(text: String) throws {
        let metadata = try #require(UploadMetadata(text))
        #expect(metadata["name"] == "ä.txta" && metadata.text == text)
        #expect(UploadMetadata("")?["name"] == nil && UploadMetadata("") != nil && UploadMetadata(" , ") != nil)
    }

    @Test(
        "Parts and what is made of them",
        arguments: [
            (nil, UploadConcatenation.none), ("partial", .partial), ("final;/a", .final(["/a"])),
            ("final;/a https://b/c", .final(["/a", "https://b/c"])),
        ]
    )
    func concatenation(field: String?, value: UploadConcatenation) {
        #expect(UploadConcatenation(field) == value)
        #expect(value.text == field)
    }

    @Test("What says neither", arguments: ["", "Partial", "final", "final;", "final; ", "partial;/a", "other;/a"])
    func wrongConcatenation(field: String) {
        #expect(UploadConcatenation(field) == nil)
    }

    @Test("More parts than a thousand are refused")
    func manyParts() {
        let urls = Array(repeating: "/a", count: 1_000)
        #expect(UploadConcatenation("final;" + urls.joined(separator: " ")) == .final(urls))
        #expect(UploadConcatenation("final;/b " + urls.joined(separator: " ")) == nil)
    }

    @Test("Digests of the right length, by an algorithm that is known")
    func checksums() throws {
        let checksum = try UploadChecksum("sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=")
        #expect(checksum.algorithm == .sha1 && checksum.digest.count == 20 && checksum.digest.first == 0x2A)
        #expect(try UploadChecksum("md5 XrY7u+Ae7tCTyyK7j1rNww==").algorithm == .md5)
        #expect(try UploadChecksum("sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0") == checksum)
        for field in [
            "", "sha1", "sha1 ", "sha1 Kq5s", "crc32 Kq5sNclPz7QV2+lfQIuc6R7oRu0=", "md5 Kq5sNclPz7QV2+lfQIuc6R7oRu0=",
            "SHA1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=", "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0==",
        ] {
            do {
                _ = try UploadChecksum(field)
                Issue.record("\(field) is taken")
            } catch {
                #expect(error.status == .badRequest)
            }
        }
    }
}
