// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct DomainNameTests {
    private static let longest = [63, 63, 63, 61].map { String(repeating: "a", count: $0) }.joined(separator: ".")

    @Test("A name is its labels, each behind its length, in lower case")
    func octets() throws {
        let name = try DomainName("Www.Example.org")
        #expect(name.octets == [3] + Array("www".utf8) + [7] + Array("example".utf8) + [3] + Array("org".utf8) + [0])
        #expect(name == (try DomainName("wWW.eXAMPLE.ORG.")))
        #expect(name.description == "www.example.org")
        #expect(name.labels.map { String(decoding: $0, as: UTF8.self) } == ["www", "example", "org"])
        #expect(name.isHostName)
    }

    @Test(
        "What a host can be called is taken",
        arguments: [
            "a", "a.", "_dmarc.example.com", "xn--bcher-kva.example", "1.example", "-a-.b", longest, longest + ".",
        ]
    )
    func valid(host: String) throws {
        #expect(try DomainName(host).octets.count <= DomainName.limit)
    }

    @Test("A name may have 255 octets and a label 63, and no more")
    func limits() throws {
        #expect(try DomainName(Self.longest).octets.count == 255)
        #expect(throws: SocketError.self) { try DomainName(Self.longest + "a") }
        #expect(throws: SocketError.self) { try DomainName(Self.longest + ".a") }
        #expect(throws: SocketError.self) { try DomainName(String(repeating: "a", count: 64)) }
        #expect(throws: SocketError.self) { try DomainName(String(repeating: "a.", count: 128)) }
    }

    @Test(
        "What no host can be called has no address",
        arguments: [
            "", ".", "..", ".a", "a..b", "a..", "a b", "a/b", "bücher.example", "a\0b", "a:80", "[::1]", "a*b", "a@b",
            "a\n", "%61",
        ]
    )
    func invalid(host: String) {
        #expect { try DomainName(host) } throws: { ($0 as? SocketError)?.code == .unknownHost }
    }

    @Test("Names that were read may have any octets, and are written so that one can tell")
    func strange() {
        let name = DomainName(unchecked: [4, 0, 0x2E, 0x5C, 0xFF, 1, 0x61, 0])
        #expect(name.description == "\\000\\046\\092\\255.a")
        #expect(!name.isHostName)
        #expect(DomainName(unchecked: [0]).description == ".")
        #expect(!DomainName(unchecked: [0]).isHostName)
    }
}

@Suite struct HostNamesTests {
    @Test(
        "Names are compared in lower case and without the last dot",
        arguments: [("Example.COM", "example.com"), ("example.com.", "example.com"), (".", "."), ("", "")]
    )
    func normalizing(host: String, normalized: String) {
        #expect(HostNames.normalized(host) == normalized)
    }

    @Test("This machine has the loopback addresses, IPv6 first", arguments: ["localhost", "LocalHost.", "a.localhost"])
    func localhost(host: String) throws {
        #expect(try HostNames.localAnswer(host)?.get().hosts == ["::1", "127.0.0.1"])
    }

    @Test(
        "Names that must not be asked for don't exist",
        arguments: ["invalid", "a.invalid", "a.INVALID.", "x.onion", "127.1", "1.2.3.4.5", "4"]
    )
    func unknown(host: String) {
        guard case .failure(let error)? = HostNames.localAnswer(host) else {
            Issue.record("“\(host)” would be asked for.")
            return
        }
        #expect(error.code == .unknownHost)
        #expect(error.message.contains("“\(host)”"))
    }

    @Test(
        "Every other name is asked for",
        arguments: ["example.com", "localhost.example", "invalid.example", "a4", "4.a", "notlocalhost", "", "."]
    )
    func asked(host: String) {
        if let answer = HostNames.localAnswer(host) { Issue.record("“\(host)” was answered: \(answer)") }
    }
}
