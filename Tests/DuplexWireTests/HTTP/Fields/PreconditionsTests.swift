// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@Suite("Conditions of a request")
struct PreconditionsTests {
    private static let now = UnixTime(seconds: 1_767_225_600)
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"

    private static let content = Preconditions.Validators(
        tag: EntityTag("a"),
        modified: UnixTime(seconds: 784_111_777)
    )

    private static func verdict(
        _ method: HTTPRequest.Method,
        _ headers: HTTPFields,
        _ content: Preconditions.Validators = content
    ) -> Preconditions.Verdict {
        Preconditions(method, headers, now: now).verdict(content)
    }

    private static func verdict(
        _ headers: HTTPFields,
        _ content: Preconditions.Validators = content
    ) -> Preconditions.Verdict {
        verdict(.get, headers, content)
    }

    @Test("Without conditions a request is done")
    func none() {
        #expect(Preconditions(.get, [.accept: "*/*"], now: Self.now).isEmpty)
        #expect(Self.verdict([:]) == .proceed)
    }

    @Test(
        "If-None-Match with the tag is not modified for GET and HEAD, and fails others",
        arguments: [#""a""#, #"W/"a""#, "*", #""b", "a""#]
    )
    func noneMatch(value: String) {
        #expect(Self.verdict([.ifNoneMatch: value]) == .notModified)
        #expect(Self.verdict(.head, [.ifNoneMatch: value]) == .notModified)
        #expect(Self.verdict(.put, [.ifNoneMatch: value]) == .failed)
    }

    @Test("If-None-Match with another tag, or of nothing, lets the request be done")
    func noneMatchOther() {
        #expect(Self.verdict([.ifNoneMatch: #""b""#]) == .proceed)
        #expect(Self.verdict(.put, [.ifNoneMatch: "*"], .init(exists: false)) == .proceed)
        #expect(Self.verdict([.ifNoneMatch: #""a""#], .init()) == .proceed)
    }

    @Test("If-None-Match goes before If-Modified-Since")
    func order() {
        #expect(Self.verdict([.ifNoneMatch: #""b""#, .ifModifiedSince: Self.date]) == .proceed)
        #expect(Self.verdict([.ifMatch: #""a""#, .ifUnmodifiedSince: "Thu, 01 Jan 1970 00:00:00 GMT"]) == .proceed)
        #expect(Self.verdict([.ifMatch: #""b""#, .ifNoneMatch: #""a""#]) == .failed)
        #expect(Self.verdict([.ifMatch: #""a""#, .ifNoneMatch: #""a""#]) == .notModified)
    }

    @Test("If-Match wants a strong tag that is the same")
    func match() {
        #expect(Self.verdict(.put, [.ifMatch: #""a""#]) == .proceed)
        #expect(Self.verdict(.put, [.ifMatch: #""b", "a""#]) == .proceed)
        #expect(Self.verdict(.put, [.ifMatch: "*"]) == .proceed)
        #expect(Self.verdict(.put, [.ifMatch: #"W/"a""#]) == .failed)
        #expect(Self.verdict(.put, [.ifMatch: #""b""#]) == .failed)
        #expect(Self.verdict(.put, [.ifMatch: "*"], .init(exists: false)) == .failed)
    }

    @Test("Dates are compared to the second")
    func dates() {
        #expect(Self.verdict([.ifModifiedSince: Self.date]) == .notModified)
        #expect(Self.verdict([.ifModifiedSince: Self.later]) == .notModified)
        #expect(Self.verdict([.ifModifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"]) == .proceed)
        #expect(Self.verdict(.post, [.ifModifiedSince: Self.date]) == .proceed)
        #expect(Self.verdict([.ifModifiedSince: Self.date], .init(tag: EntityTag("a"))) == .proceed)
        #expect(Self.verdict(.put, [.ifUnmodifiedSince: Self.date]) == .proceed)
        #expect(Self.verdict(.put, [.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"]) == .failed)
        #expect(Self.verdict([.ifModifiedSince: "yesterday"]) == .proceed)
    }

    @Test("Tags that can't be read fail where they guard a change")
    func malformed() {
        #expect(Self.verdict([.ifNoneMatch: "a"]) == .proceed)
        #expect(Self.verdict(.put, [.ifNoneMatch: "a"]) == .failed)
        #expect(Self.verdict(.put, [.ifMatch: "a"]) == .failed)
    }

    @Test(
        "A part is sent where If-Range is of the same content, by a strong tag or the very date",
        arguments: [
            (#""a""#, true), (#"W/"a""#, false), (#""b""#, false), (date, true), (later, false), ("nonsense", false),
        ]
    )
    func range(value: String, isAllowed: Bool) {
        #expect(Preconditions.allowsRange([.ifRange: value], Self.content, now: Self.now) == isAllowed)
        #expect(Preconditions.allowsRange([:], Self.content, now: Self.now))
        // What has changed within this second may have changed twice.
        let fresh = UnixTime(seconds: 784_111_777)
        #expect(!Preconditions.allowsRange([.ifRange: Self.date], Self.content, now: fresh))
    }
}
