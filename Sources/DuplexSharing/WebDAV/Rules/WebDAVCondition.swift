// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// What is to be so before a request is done, and the locks that its client has: the field `If` (RFC 4918 section 10.4).
struct WebDAVCondition: Sendable, Hashable {
    /// What there is at a path.
    struct State: Sendable, Hashable {
        /// The tag of its content; nil where it has none.
        var tag: EntityTag?
        /// The tokens of the locks that hold for it.
        var tokens: Set<String>

        init(tag: EntityTag? = nil, tokens: Set<String> = []) {
            self.tag = tag
            self.tokens = tokens
        }
    }

    private enum Test: Sendable, Hashable {
        case token(String)
        /// Nil for one that nothing here has: with blanks, as in the RFC's own examples (section 10.4.6).
        case tag(EntityTag?)
    }

    private struct Check: Sendable, Hashable {
        var test: Test
        var isNegated: Bool
    }

    private struct List: Sendable, Hashable {
        /// What it is about, as it was sent; nil for what the request is about.
        var resource: String?
        var checks: [Check] = []
    }

    /// The most tests that are read.
    static let bound = 256

    private let lists: [List]

    /// Reads the field; nil where there is none.
    ///
    /// - Throws: ``WebDAVFault`` for one that is malformed, or has more than ``bound`` tests.
    init?(_ headers: HTTPFields) throws(WebDAVFault) {
        let values = headers[values: .davIf]
        guard let value = values.first else { return nil }
        guard values.count == 1, let lists = Self.lists(value) else {
            throw WebDAVFault("The field If is malformed.")
        }
        self.lists = lists
    }

    /// The tokens that it names, and so submits; see RFC 4918 section 10.4.1.
    var tokens: Set<String> {
        Set(lists.flatMap(\.checks).compactMap { if case .token(let token) = $0.test { token } else { nil } })
    }

    /// The other resources that it is about, as their URLs or paths were sent.
    var resources: Set<String> { Set(lists.compactMap(\.resource)) }

    /// The path of such a resource; nil for one of another server.
    ///
    /// - Parameters:
    ///   - resource: one of ``resources``.
    ///   - host: the host and port that the request is for.
    ///   - aliases: as for ``WebDAVDestination/init(_:host:aliases:)``.
    /// - Returns: the path.
    static func path(of resource: String, host: String, aliases: [String] = []) -> String? {
        WebDAVDestination.path(ofTag: resource, host: host, aliases)
    }

    /// Whether one of its lists holds.
    ///
    /// - Parameters:
    ///   - own: what there is where the request leads.
    ///   - others: what there is at ``resources``; nothing where one isn't in it.
    /// - Returns: whether the request is to be done; 412 otherwise.
    func holds(for own: State, _ others: [String: State]) -> Bool {
        lists.contains { list in
            let state = list.resource.map { others[$0] ?? State() } ?? own
            return list.checks.allSatisfy { Self.holds($0.test, state) != $0.isNegated }
        }
    }

    private static func holds(_ test: Test, _ state: State) -> Bool {
        switch test {
        case .token(let token): state.tokens.contains(token)
        // Which comparison it is to be is open (RFC 4918 section 10.4.4); a proxy that compresses makes tags weak.
        case .tag(let tag): tag.flatMap { tag in state.tag.map(tag.weaklyMatches) } ?? false
        }
    }

    // MARK: Reading

    private static func lists(_ value: String) -> [List]? {
        var scanner = FieldScanner(value)
        var lists: [List] = []
        var count = 0
        scanner.skipBlanks()
        let isTagged = scanner.isAt("<")
        var resource: String?
        while !scanner.isAtEnd {
            if scanner.isAt("<") {
                // All lists are of resources, or none is.
                guard isTagged, let next = codedURL(&scanner) else { return nil }
                resource = next
                scanner.skipBlanks()
                guard scanner.isAt("(") else { return nil }
            }
            guard let list = list(&scanner, resource, &count) else { return nil }
            lists.append(list)
            scanner.skipBlanks()
        }
        return lists.isEmpty ? nil : lists
    }

    private static func list(_ scanner: inout FieldScanner, _ resource: String?, _ count: inout Int) -> List? {
        guard scanner.skip("(") else { return nil }
        var list = List(resource: resource)
        while true {
            scanner.skipBlanks()
            if scanner.skip(")") { return list.checks.isEmpty ? nil : list }
            let isNegated = skipNot(&scanner)
            scanner.skipBlanks()
            guard count < bound, let test = test(&scanner) else { return nil }
            count += 1
            list.checks.append(Check(test: test, isNegated: isNegated))
        }
    }

    private static func skipNot(_ scanner: inout FieldScanner) -> Bool {
        let begin = scanner.position
        if let word = scanner.token(), Grammar.matches(word, "Not") { return true }
        scanner.position = begin
        return false
    }

    private static func test(_ scanner: inout FieldScanner) -> Test? {
        if scanner.isAt("<") { return codedURL(&scanner).map(Test.token) }
        guard scanner.skip("[") else { return nil }
        scanner.skipBlanks()
        guard let tag = tag(&scanner) else { return nil }
        scanner.skipBlanks()
        return scanner.skip("]") ? tag : nil
    }

    private static func tag(_ scanner: inout FieldScanner) -> Test? {
        let begin = scanner.position
        if let tag = EntityTag.tag(&scanner) { return .tag(tag) }
        scanner.position = begin
        guard !scanner.skip("W") || scanner.skip("/"), scanner.skip("\"") else { return nil }
        while !scanner.isAtEnd, !scanner.isAt("\"") { scanner.position += 1 }
        return scanner.skip("\"") ? .tag(nil) : nil
    }

    /// What stands between `<` and `>`, without blanks in it (RFC 4918 section 10.1: Coded-URL).
    static func codedURL(_ scanner: inout FieldScanner) -> String? {
        guard scanner.skip("<") else { return nil }
        let start = scanner.position
        while !scanner.isAtEnd, !scanner.isAt(">"), Grammar.isVisible(scanner.bytes[scanner.position]) {
            scanner.position += 1
        }
        let text = String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
        return scanner.skip(">") && !text.isEmpty ? text : nil
    }
}
