// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("The fields Destination and Overwrite")
struct WebDAVDestinationTests {
    @Test(
        "A path, or a URL of this server",
        arguments: [
            ("/a/b%20c", "example.org", "/a/b%20c"), ("http://example.org/a", "example.org", "/a"),
            ("http://EXAMPLE.org:80/a", "example.org", "/a"), ("https://example.org/a", "example.org:443", "/a"),
            ("https://example.org:8080/a?q", "example.org:8080", "/a"), ("http://[::1]:80/", "[::1]", "/"),
            ("http://example.org", "example.org", "/"), (" /a ", "example.org", "/a"),
        ]
    )
    func here(value: String, host: String, path: String) throws {
        #expect(try WebDAVDestination([.destination: value], host: host) == .path(path))
    }

    @Test(
        "Another host or port is another server",
        arguments: ["http://example.net/a", "http://example.org:81/a", "https://example.org:8443/a"]
    )
    func elsewhere(value: String) throws {
        #expect(try WebDAVDestination([.destination: value], host: "example.org") == .elsewhere)
    }

    @Test(
        "Behind a proxy another host is this server, too; without a port it stands for any",
        arguments: [
            ("https://files.example/a", "files.example", true), ("https://FILES.example:8443/a", "files.example", true),
            ("https://files.example:8443/a", "files.example:8443", true),
            ("https://files.example/a", "files.example:443", true),
            ("https://files.example/a", "files.example:8443", false),
            ("https://other.example/a", "files.example", false),
            ("https://files.example/a", "not a host", false), ("http://example.org/a", "files.example", true),
        ]
    )
    func aliases(value: String, alias: String, isHere: Bool) throws {
        let destination = try WebDAVDestination([.destination: value], host: "example.org", aliases: ["x", alias])
        #expect(destination == (isHere ? .path("/a") : .elsewhere))
        #expect(WebDAVCondition.path(of: value, host: "example.org", aliases: [alias]) == (isHere ? "/a" : nil))
    }

    @Test("All else is refused", arguments: ["", "a/b", "ftp://example.org/a", "*", "http://u@example.org/", "/a#b"])
    func refuses(value: String) {
        #expect(throws: WebDAVFault.self) { try WebDAVDestination([.destination: value], host: "example.org") }
    }

    @Test("Without it, or with two, there is none")
    func absent() {
        var headers = HTTPFields()
        #expect(throws: WebDAVFault.self) { try WebDAVDestination(headers, host: "") }
        headers[values: .destination] = ["/a", "/b"]
        #expect(throws: WebDAVFault.self) { try WebDAVDestination(headers, host: "") }
    }

    @Test("Overwrite is T, F, or not there")
    func overwrites() throws {
        #expect(try WebDAVDestination.overwrites([:]) && WebDAVDestination.overwrites([.overwrite: "T"]))
        #expect(try !WebDAVDestination.overwrites([.overwrite: "f"]))
        #expect(throws: WebDAVFault.self) { try WebDAVDestination.overwrites([.overwrite: "yes"]) }
    }
}

@Suite("The field Depth")
struct WebDAVDepthTests {
    @Test(
        "Its values",
        arguments: [
            ("0", WebDAVDepth.zero), ("1", .one), ("infinity", .infinity), ("Infinity", .infinity), (" 1 ", .one),
        ]
    )
    func reads(value: String, depth: WebDAVDepth) throws {
        #expect(try WebDAVDepth([.depth: value], absent: .zero) == depth)
    }

    @Test("Without it holds what the method says", arguments: [WebDAVDepth.zero, .one, .infinity])
    func absent(depth: WebDAVDepth) throws {
        #expect(try WebDAVDepth([:], absent: depth) == depth)
    }

    @Test("All else is refused, and so are two", arguments: [["2"], [""], ["-1"], ["1,noroot"], ["0", "0"]])
    func refuses(values: [String]) {
        var headers = HTTPFields()
        headers[values: .depth] = values
        #expect(throws: WebDAVFault.self) { try WebDAVDepth(headers, absent: .zero) }
    }
}

@Suite("The field Timeout")
struct WebDAVTimeoutTests {
    @Test(
        "The first wish that can be read holds",
        arguments: [
            ("Second-600", Int64(600)), ("second-1", 1), ("Infinite, Second-4100000000", nil),
            ("Second-10, Second-20", 10), ("Extend, Second-20", 20), ("Second-, Second--1, Second-5", 5),
            ("Second-99999999999999999999", .max), ("", nil), ("x", nil),
        ]
    )
    func reads(value: String, seconds: Int64?) {
        #expect(WebDAVTimeout([.timeout: value]).seconds == seconds)
    }

    @Test("It is granted up to a bound, and for a second at least")
    func grants() {
        #expect(WebDAVTimeout([:]).granted(upTo: 60) == 60)
        #expect(WebDAVTimeout([.timeout: "Second-10"]).granted(upTo: 60) == 10)
        #expect(WebDAVTimeout([.timeout: "Second-100"]).granted(upTo: 60) == 60)
        #expect(WebDAVTimeout([.timeout: "Second-0"]).granted(upTo: 60) == 1)
    }
}

@Suite("Faults of WebDAV's requests")
struct WebDAVFaultTests {
    @Test("They say what is wrong")
    func message() {
        #expect(throws: WebDAVFault("Depth is 0, 1 or infinity.")) { try WebDAVDepth([.depth: "2"], absent: .zero) }
    }
}
