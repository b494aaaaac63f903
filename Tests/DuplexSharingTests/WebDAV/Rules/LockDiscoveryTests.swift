// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("The locks that clients are told of")
struct LockDiscoveryTests {
    private static func lock(_ token: String, user: String, owner: Int = 1_000) -> WebDAVLock {
        WebDAVLock(
            token: token,
            root: .top,
            isDeep: true,
            scope: .shared,
            owner: .dav("owner", text: String(repeating: "o", count: owner)),
            user: user,
            expiry: UnixTime(seconds: 60)
        )
    }

    private static func tokens(_ locks: [WebDAVLock], _ user: String?, href: String = "/") -> [String] {
        LockDiscovery.elements(of: locks, for: user, now: UnixTime(seconds: 0)) { _ in href }
            .compactMap { $0.first(.dav("locktoken"))?.text(of: "href") }
    }

    @Test("They fit in a number of bytes, however many there are, those of the user who asks first")
    func bound() {
        let locks = (0..<300).map { Self.lock("\($0)", user: $0 == 299 ? "me" : "you") }
        let told = LockDiscovery.elements(of: locks, for: "me", now: UnixTime(seconds: 0)) { _ in "/" }
        #expect(told.map(\.written.utf8.count).reduce(0, +) <= LockDiscovery.bound)
        #expect(Self.tokens(locks, "me") == ["299", "0", "1", "2", "3", "4"])
        #expect(Self.tokens(locks, nil).first == "0")
    }

    @Test("One is told of, however long it is")
    func one() {
        let locks = [Self.lock("1", user: "me", owner: 10_000), Self.lock("2", user: "me")]
        #expect(Self.tokens(locks, "me") == ["1"])
        #expect(Self.tokens([], "me") == [])
    }
}

extension XMLElement {
    fileprivate func text(of name: String) -> String? { first(.dav(name))?.text }
}
