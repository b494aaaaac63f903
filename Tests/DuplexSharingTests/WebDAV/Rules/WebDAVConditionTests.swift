// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexSharing

@Suite("The field If of WebDAV")
struct WebDAVConditionTests {
    private static func condition(_ value: String) throws -> WebDAVCondition {
        try #require(try WebDAVCondition([.davIf: value]))
    }

    private static let tag = EntityTag("I-am-an-ETag")
    private static let state = WebDAVCondition.State(tag: tag, tokens: ["urn:uuid:1"])

    @Test("Without it there is none")
    func absent() throws {
        #expect(try WebDAVCondition([:]) == nil)
    }

    @Test(
        "What holds for the resource itself (RFC 4918 sections 10.4.6 to 10.4.8)",
        arguments: [
            ("(<urn:uuid:1>)", true), ("(<urn:uuid:2>)", false), (#"(["I-am-an-ETag"])"#, true),
            (#"(["another"])"#, false), (#"(<urn:uuid:1> ["I-am-an-ETag"]) (["another"])"#, true),
            (#"(<urn:uuid:1> ["another"])"#, false), ("(Not <urn:uuid:2> <urn:uuid:1>)", true),
            ("(Not <urn:uuid:1>)", false), ("(<urn:uuid:2>) (Not <DAV:no-lock>)", true),
            (#"(not["another"])"#, true), (#"(["another"]) (["third"]) (<urn:uuid:1>)"#, true),
            (#"([W/"I-am-an-ETag"])"#, true), ("  ( <urn:uuid:1> )  ", true),
        ]
    )
    func untagged(value: String, holds: Bool) throws {
        #expect(try Self.condition(value).holds(for: Self.state, [:]) == holds)
    }

    @Test(
        "Tags with blanks are read, and are nobody's: the RFC's own examples (sections 10.4.6, 10.4.8) have them",
        arguments: [
            (#"(<urn:uuid:1> ["I am an ETag"]) (["I am another ETag"])"#, false),
            (#"(<urn:uuid:1> Not [W/"A weak ETag"])"#, true), (#"(["I am an ETag"]) (<urn:uuid:1>)"#, true),
        ]
    )
    func blanks(value: String, holds: Bool) throws {
        #expect(try Self.condition(value).holds(for: Self.state, [:]) == holds)
    }

    @Test("Lists of a resource are about that resource (RFC 4918 section 10.4.9)")
    func tagged() throws {
        let condition = try Self.condition(
            #"</a> (<urn:uuid:1> [W/"A-weak-ETag"]) (["strong"]) <http://example.org/b> (["other"])"#
        )
        #expect(condition.resources == ["/a", "http://example.org/b"] && condition.tokens == ["urn:uuid:1"])
        let strong = WebDAVCondition.State(tag: EntityTag("strong"))
        #expect(condition.holds(for: Self.state, ["/a": strong]))
        #expect(!condition.holds(for: Self.state, ["/a": Self.state]))
        #expect(condition.holds(for: Self.state, ["http://example.org/b": .init(tag: EntityTag("other"))]))
        #expect(!condition.holds(for: Self.state, [:]))
        // What isn't there isn't locked, either (RFC 4918 section 10.4.10).
        #expect(try Self.condition("</specs/> (Not <urn:uuid:1>)").holds(for: Self.state, [:]))
    }

    @Test("All tokens are submitted, whatever else is said of them")
    func tokens() throws {
        let value = "(<urn:uuid:1>) (Not <urn:uuid:2>) (<DAV:no-lock> <urn:uuid:1>)"
        #expect(try Self.condition(value).tokens == ["urn:uuid:1", "urn:uuid:2", "DAV:no-lock"])
    }

    @Test(
        "What is malformed is refused",
        arguments: [
            "", "<urn:uuid:1>", "()", "(", "(<urn:uuid:1>", "(<>)", "(<a b>)", "([])", "([x])", #"(["x")"#, "(Not)",
            "(Not Not <a>)", "</a>", "</a> </b> (<a>)", "(<a>) </b> (<a>)", "(<a>) x", "(a)", "(<a>),(<b>)",
        ]
    )
    func malformed(value: String) {
        #expect(throws: WebDAVFault.self) { try WebDAVCondition([.davIf: value]) }
    }

    @Test("There is a bound on what is read")
    func bound() throws {
        let most = String(repeating: "(<a>)", count: WebDAVCondition.bound)
        #expect(try WebDAVCondition([.davIf: most]) != nil)
        #expect(throws: WebDAVFault.self) { try WebDAVCondition([.davIf: most + "(<a>)"]) }
        var twice = HTTPFields()
        twice[values: .davIf] = ["(<a>)", "(<b>)"]
        #expect(throws: WebDAVFault.self) { try WebDAVCondition(twice) }
    }

    @Test("The paths of its resources are those of this server")
    func paths() {
        #expect(WebDAVCondition.path(of: "http://example.org/a", host: "example.org") == "/a")
        #expect(WebDAVCondition.path(of: "/a", host: "example.org") == "/a")
        #expect(WebDAVCondition.path(of: "http://example.net/a", host: "example.org") == nil)
        #expect(WebDAVCondition.path(of: "urn:uuid:1", host: "example.org") == nil)
    }
}
