// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("The hosts that proxies name")
struct ForwardedHostsTests {
    private static func headers(_ pairs: [(String, String)]) -> HTTPFields {
        var headers = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
        }
        return headers
    }

    @Test(
        "X-Forwarded-Host and Forwarded, with their ports",
        arguments: [
            ([], []), ([("X-Forwarded-Host", "files.example")], ["files.example"]),
            (
                [("X-Forwarded-Host", "a.example:8443, b.example"), ("X-Forwarded-Host", "c")],
                ["a.example:8443", "b.example", "c"]
            ),
            ([("Forwarded", "for=192.0.2.60;proto=http;host=files.example")], ["files.example"]),
            ([("Forwarded", "Host=\"a.example:8443\" ; by=\"[::1]\", for=x;host=b")], ["a.example:8443", "b"]),
            ([("Forwarded", "for=a, for=b"), ("Forwarded", "host=c")], ["c"]),
            ([("X-Forwarded-Host", "a"), ("Forwarded", "host=b")], ["a", "b"]),
            ([("X-Forwarded-For", "a"), ("Host", "b")], []),
        ] as [([(String, String)], [String])]
    )
    func reading(pairs: [(String, String)], hosts: [String]) {
        #expect(ForwardedHosts.read(Self.headers(pairs)) == hosts)
    }

    @Test(
        "Members that are malformed are left out",
        arguments: [
            ("", []), (",,", []), (";host=a", ["a"]), ("host", []), ("host=", []), ("host=\"a", []), ("=a;host=b", []),
            ("for=\"a,host=b", []), ("x y;host=c, host=d", ["d"]), ("host=e;;", ["e"]),
        ]
    )
    func malformed(value: String, hosts: [String]) {
        #expect(ForwardedHosts.read(Self.headers([("Forwarded", value)])) == hosts)
    }

    @Test("No more are read than the bound")
    func bounded() {
        let many = Array(repeating: "a", count: 50).joined(separator: ",")
        #expect(ForwardedHosts.read(Self.headers([("X-Forwarded-Host", many)])).count == ForwardedHosts.bound)
    }
}
