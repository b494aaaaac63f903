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
        var fields = HTTPFields()
        #expect(throws: WebDAVFault.self) { try WebDAVDestination(fields, host: "") }
        fields[values: .destination] = ["/a", "/b"]
        #expect(throws: WebDAVFault.self) { try WebDAVDestination(fields, host: "") }
    }

    @Test("Overwrite is T, F, or not there")
    func overwrites() throws {
        #expect(try WebDAVDestination.overwrites([:]) && WebDAVDestination.overwrites([.overwrite: "T"]))
        #expect(try !WebDAVDestination.overwrites([.overwrite: "f"]))
        #expect(throws: WebDAVFault.self) { try WebDAVDestination.overwrites([.overwrite: "yes"]) }
    }
}
